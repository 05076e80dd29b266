const running = new WeakMap<object, Promise<unknown>>();

/** Runs one task at a time for the same store; the others wait their turn. */
export function inTurn<T>(store: object, task: () => Promise<T>): Promise<T> {
  const result = (running.get(store) ?? Promise.resolve()).then(task);
  running.set(
    store,
    result.catch(() => undefined),
  );
  return result;
}

/** Waits until no task of the store is running. */
export async function settled(store: object): Promise<void> {
  let last: Promise<unknown> | undefined;
  while (running.get(store) !== last) {
    last = running.get(store);
    await last;
  }
}
