/**
 * Runs a function for each item, `concurrency` at once. After a failure, or when `signal` is aborted, it
 * begins no more and waits for those that run. Then it rejects with the first error, if there was one.
 */
export async function inParallel<Item>(
  items: readonly Item[],
  { concurrency, signal }: { concurrency: number; signal?: AbortSignal | undefined },
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const errors: unknown[] = [];
  const lane = async () => {
    for (const item of left) {
      if (errors.length > 0 || signal?.aborted) return;
      await run(item).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  if (errors.length > 0) throw errors[0];
}
