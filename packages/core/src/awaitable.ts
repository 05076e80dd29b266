/** A value, or a promise of it if it is not available yet. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/** Whether to await it: awaiting a value that is already there costs a microtask. */
export const isPending = <Value>(value: Awaitable<Value>): value is PromiseLike<Value> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
