import type { Logger } from './logger.ts';

/** A logger that can't get in the way: what it throws is dropped, and the delivery goes on. */
export function safeLogger(logger: Logger): Logger {
  const safely = (level: keyof Logger) => (line: string) => {
    try {
      const told: unknown = logger[level](line);
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // Whoever broke the logger will miss the line.
    }
  };
  return { warn: safely('warn'), error: safely('error') };
}
