import { setTimeout as pause } from 'node:timers/promises';
import type { ActivityEvent, Client } from '@call-webhooks/client';
import type { App } from '../app.ts';
import { serviceClient, type ServiceOptions } from './connect.ts';
import { eventLine } from './event-view.ts';
import { searchOf, type SearchOptions } from './search.ts';

/** Ids that are remembered, and pages that are read, at most. */
const REMEMBERED = 100_000;
const MAX_PAGES = 20;

/**
 * Asks again and again, and shows what was not there before, the oldest first. The interface shows
 * no order of its results: the latest are taken to come first, as they do in our simulator.
 */
export async function tailEvents(
  app: App,
  options: ServiceOptions & SearchOptions & { readonly interval: number },
): Promise<never> {
  const { output, signal } = app;
  const search = searchOf(options);
  const client = await serviceClient(app, options);
  const seen = new Set<string>();
  await fresh(client, search, seen, 1, signal);
  output.say('Watching for new events. Ctrl-C ends it.');
  for (;;) {
    await pause(options.interval, undefined, { signal });
    for (const event of (await fresh(client, search, seen, MAX_PAGES, signal)).reverse())
      await output.show(event, (ink) => eventLine(ink, event));
  }
}

/** The events that were not seen before: page by page, until one holds something known. */
async function fresh(
  { events }: Client,
  search: ReturnType<typeof searchOf>,
  seen: Set<string>,
  pages: number,
  signal: AbortSignal,
): Promise<ActivityEvent[]> {
  const found: ActivityEvent[] = [];
  let next: string | undefined;
  for (let page = 0; page < pages; page++) {
    const { results, hasNext, next: after } = await events.list({ search, next, signal });
    const unseen = results.filter(({ _id }) => !seen.has(_id));
    found.push(...unseen);
    for (const { _id } of unseen) seen.add(_id);
    if (!hasNext || unseen.length < results.length) break;
    next = after;
  }
  for (const id of seen) {
    if (seen.size <= REMEMBERED) break;
    seen.delete(id);
  }
  return found;
}
