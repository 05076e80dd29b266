import { inspect } from 'node:util';
import type { Logger } from '@call-webhooks/core';

/** One call of a logger. */
export interface LogEntry {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: Record<string, unknown>;
  message: string;
}

/** A logger that keeps its lines, with everything that is in their fields. */
export function collectingLogger(): Required<Logger> & { entries: LogEntry[]; lines: string[] } {
  const entries: LogEntry[] = [];
  const lines: string[] = [];
  const keep = (level: LogEntry['level']) => (fields: object, message: string) => {
    entries.push({ level, fields: { ...fields }, message });
    lines.push(`${message} ${inspect(fields, { depth: 10, breakLength: Infinity })}`);
  };
  return {
    entries,
    lines,
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
  };
}
