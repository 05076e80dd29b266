/** Where log lines go: `console`, pino and the like. Each line is plain text. */
export interface Logger {
  warn(line: string): unknown;
  error(line: string): unknown;
}

/**
 * Calls a hook of the user. What it throws, or rejects with, is dropped: a broken hook must not
 * change a response or end the process.
 */
export function callHook<Argument>(
  hook: (argument: Argument) => unknown,
  argument: Argument,
): void {
  try {
    const result: unknown = hook(argument);
    if (result instanceof Promise) result.catch(() => undefined);
  } catch {
    // The hook is the user's, and this is documented.
  }
}

/** The same logger, whose errors are dropped. */
export function safeLogger(logger: Logger): Logger {
  return {
    warn(line) {
      callHook((text) => logger.warn(text), line);
    },
    error(line) {
      callHook((text) => logger.error(text), line);
    },
  };
}
