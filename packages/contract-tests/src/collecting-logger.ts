import type { Logger } from '@call-webhooks/core';

/** A logger whose lines can be read. */
export function collectingLogger(): Logger & { lines: string[] } {
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  return { lines, warn: keep, error: keep };
}
