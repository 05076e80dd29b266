/** A value, or a promise of it if it is not available yet. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/** Whether to await it: awaiting a value that is already there costs a microtask. */
export const isPending = <Value>(value: Awaitable<Value>): value is PromiseLike<Value> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';

/**
 * Awaits what a callback of the user returned, a lazy query too: its `then` is what sends it.
 * @param onFailed gets what it rejects with; must not throw
 */
export async function settle(value: unknown, onFailed: (error: unknown) => void): Promise<void> {
  try {
    await value;
  } catch (error) {
    onFailed(error);
  }
}
