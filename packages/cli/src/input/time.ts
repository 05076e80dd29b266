import { badInput } from '../errors.ts';
import { milliseconds } from './options.ts';

/** Parses a time, or a duration before now. @throws CliError 2 */
export function time(given: string): Date {
  const ms = /^\d+(\.\d+)?\s*[a-z]+$/.test(given)
    ? Date.now() - milliseconds(given)
    : Date.parse(given);
  if (Number.isFinite(ms)) return new Date(ms);
  throw badInput(`Invalid time: ${given}`, 'Examples: 2h (ago), 2026-01-31, 2026-01-31T12:00Z');
}
