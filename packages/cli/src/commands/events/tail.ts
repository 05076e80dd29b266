import { setTimeout as pause } from 'node:timers/promises';
import type { ActivityEvent, Client } from '@call-webhooks/client';
import type { App } from '../../app.ts';
import { serviceClient, type ServiceOptions } from '../../service/client.ts';
import { layout, type Layout } from '../../terminal/table.ts';
import { SHOWN_COLUMNS } from './columns.ts';
import { searchOf, type SearchOptions } from './search.ts';

const MAX_IDS = 100_000;
const MAX_PAGES = 20;

/**
 * Polls for events and prints new ones, oldest first. The spec does not show the order of results.
 * We assume that the latest come first.
 */
export async function tailEvents(
  app: App,
  options: ServiceOptions & SearchOptions & { readonly interval: number },
): Promise<never> {
  const { output, signal } = app;
  const search = searchOf(options);
  const client = await serviceClient(app, options);
  const seen = new Set<string>();
  await readNew(client, search, seen, 1, signal);
  let rows: Layout | undefined;
  output.message('Watching for new events. Press Ctrl-C to stop.');
  for (;;) {
    await pause(options.interval, undefined, { signal });
    for (const event of (await readNew(client, search, seen, MAX_PAGES, signal)).reverse())
      await output.print(event, (colors) => {
        rows ??= layout(colors, SHOWN_COLUMNS, [], output.columns);
        return rows.row(SHOWN_COLUMNS.map(({ value }) => value(event)));
      });
  }
}

/** Reads events that were not seen before, page by page, until a page contains a known one. */
async function readNew(
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
    if (seen.size <= MAX_IDS) break;
    seen.delete(id);
  }
  return found;
}
