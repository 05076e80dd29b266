import { parseEventSearch } from '@call-webhooks/client';
import type { FastifyInstance } from 'fastify';
import { activityEvents } from '../activity/activity-events.ts';
import { eventMatcher } from '../activity/event-search.ts';
import type { Simulation } from '../simulation.ts';
import { SimulatorError } from '../simulator-error.ts';
import { pageOf, type PageQuery } from './page.ts';

/** `GET /v1/events`. `previous` and `fields` are ignored: the spec does not support them. */
export function eventRoutes(
  app: FastifyInstance,
  { messages, directory, settings }: Simulation,
): void {
  app.get<{ Querystring: PageQuery & { search?: unknown } }>('/events', ({ query }) => {
    const { search = '' } = query;
    if (typeof search !== 'string')
      throw new SimulatorError('invalid-input', 'Pass search only once.');
    const tree = parseEventSearch(search);
    const matches = eventMatcher(tree, directory, settings.untilIncludesDay);
    const found = activityEvents(messages, directory).filter(matches);
    const { results, ...page } = pageOf(found, query, settings.pageSize);
    return { results: results.map((event) => event.record()), ...page };
  });
}
