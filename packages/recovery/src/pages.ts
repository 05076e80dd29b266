import { ApiError, type CallRecord, type Page } from '@call-webhooks/client';
import type { Pass } from './cursor.ts';
import type { ReconcileSettings } from './reconcile-options.ts';

/** A cursor of a run of long ago may not be valid any more. */
const REFUSED = [400, 404, 410, 422];

/**
 * The pages of a pass. Each is requested when the one before is done.
 * @throws ApiError `invalid-response` if the service repeats a cursor: going on would never end
 */
export async function* pagesOf(
  { client, query, pageSize, signal }: ReconcileSettings,
  { since, until, next: first }: Pass,
): AsyncGenerator<Page<CallRecord>, void, undefined> {
  const asked = query?.({ since: new Date(since), until: new Date(until) });
  const list = (next: string | undefined) =>
    client.calls.list({ query: asked, next, limit: pageSize, signal });
  const used = new Set<string>();
  for (let next = first; ;) {
    let page: Page<CallRecord>;
    try {
      page = await list(next);
    } catch (error) {
      if (next === undefined || used.size > 0 || !isRefused(error)) throw error;
      page = await list(undefined);
    }
    yield page;
    next = page.next;
    if (!page.hasNext || next === undefined) return;
    if (used.has(next))
      throw new ApiError({
        method: 'GET',
        path: '/v1/calls',
        status: 200,
        code: 'invalid-response',
        problem:
          'the service repeats the cursor of a page. Set wire.nextParam to the query parameter that it reads the cursor from',
      });
    used.add(next);
  }
}

const isRefused = (error: unknown) => error instanceof ApiError && REFUSED.includes(error.status);
