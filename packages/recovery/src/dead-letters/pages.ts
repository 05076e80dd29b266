import type { DeadLetterPage, ListedDeadLetter } from '@call-webhooks/core/stores';

/**
 * The pages of a list of dead letters, from the first to the last.
 * @param read reads one page; without a cursor the first one
 * @throws what `read` throws; and an error for a store that repeats a cursor, since reading it would never end
 */
export async function* pagesOf(
  read: (cursor: string | undefined) => Promise<DeadLetterPage>,
): AsyncGenerator<readonly ListedDeadLetter[], void, undefined> {
  const used = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const page = await read(cursor);
    yield page.letters;
    cursor = page.cursor;
    if (cursor === undefined) return;
    if (used.has(cursor))
      throw new Error(
        'The store of dead letters repeats the cursor of a page, so its list never ends. Return the cursor of the next page, and none on the last page.',
      );
    used.add(cursor);
  }
}
