/** A value, or a promise of it where it is not at hand. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/** Whether it has to be waited for: to await what is there already costs a turn of the microtasks. */
export const isPending = <Value>(value: Awaitable<Value>): value is PromiseLike<Value> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
