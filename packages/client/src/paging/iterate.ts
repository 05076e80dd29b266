import type { Page, PageOptions } from './page.ts';

/**
 * Walks over all pages, one result at a time. A page is fetched when its first result is asked for,
 * and never ahead. It ends when the service says `hasNext: false`, gives no cursor, or gives one
 * that was used before (it would go round in circles).
 */
export async function* iteratePages<T, O extends PageOptions>(
  options: O,
  fetchPage: (options: O) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  const used = new Set<string>();
  let current: O = options;
  for (;;) {
    if (current.next !== undefined) used.add(current.next);
    const page = await fetchPage(current);
    yield* page.results;
    // A consumer may pause for long between two results: look again before the next request.
    options.signal?.throwIfAborted();
    if (!page.hasNext || page.next === undefined || used.has(page.next)) return;
    current = { ...options, next: page.next };
  }
}
