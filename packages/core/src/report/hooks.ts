/**
 * Awaits what the user's callback returned, even a lazy query, which is sent only when its `then` is
 * called.
 * @param onFailed gets what it rejects with; must not throw
 */
async function settle(value: unknown, onFailed: (error: unknown) => void): Promise<void> {
  try {
    await value;
  } catch (error) {
    onFailed(error);
  }
}

/** For a result that is not needed: a promise that rejects must not end the process. */
export const discard = (value: unknown): void => void settle(value, () => undefined);

/**
 * Calls the user's hook. Errors that it throws or rejects with are dropped: a broken hook must not
 * change a response or end the process.
 */
export function callHook<Argument>(
  hook: (argument: Argument) => unknown,
  argument: Argument,
  onFailed: (error: unknown) => void = () => undefined,
): void {
  try {
    const result: unknown = hook(argument);
    const isPending = typeof (result as { then?: unknown } | null | undefined)?.then === 'function';
    if (isPending) void settle(result, onFailed);
  } catch (error) {
    onFailed(error);
  }
}
