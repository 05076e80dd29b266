/**
 * Awaits what a callback of the user returned, a lazy query too: its `then` is what sends it.
 * @param onFailed gets what it rejects with; must not throw
 */
async function settle(value: unknown, onFailed: (error: unknown) => void): Promise<void> {
  try {
    await value;
  } catch (error) {
    onFailed(error);
  }
}

/** For what nobody wants: a promise that rejects must not end the process. */
export const discard = (value: unknown): void => void settle(value, () => undefined);

/**
 * Calls a hook of the user. What it throws, or rejects with, is dropped: a broken hook must not
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
