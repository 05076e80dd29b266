/**
 * Runs a function for each item, `concurrency` at once. After a failure it starts no more, waits for the
 * others, and rejects with the first error.
 */
export async function inParallel<Item>(
  items: readonly Item[],
  concurrency: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const errors: unknown[] = [];
  const lane = async () => {
    for (const item of left) {
      if (errors.length > 0) return;
      await run(item).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  if (errors.length > 0) throw errors[0];
}
