import { isoTime } from '@call-webhooks/core/internal';
import { parseDuration } from '@call-webhooks/simulator/control-api';
import { Option } from 'commander';
import { badInput } from '../errors.ts';
import { duration } from '../terminal/format.ts';

/**
 * Parses a time in ISO 8601, or a duration before now such as `2h`. A number needs a unit: engines read
 * `5` as May 2001.
 * @throws CliError 2
 */
export function time(given: string): Date {
  const before = parseDuration(given);
  const ms = before === undefined ? isoTime(given) : Date.now() - before;
  if (ms !== undefined) return new Date(ms);
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(given)) throw withoutUnit(given);
  throw badInput(
    `${given} is neither a time nor a duration.`,
    'Examples: 90m, 2h or 3d (ago), 2026-01-31, 2026-01-31T12:00Z. A time without a zone is in UTC.',
  );
}

/** Parses a duration such as `30s`, in milliseconds. A number needs a unit. @throws CliError 2 */
export function milliseconds(given: string): number {
  const ms = parseDuration(given);
  if (ms !== undefined) return ms;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(given)) throw withoutUnit(given);
  throw badInput(
    `${given} is not a duration from 0s to ${String(MAX_DAYS)}d.`,
    'Examples: 250ms, 30s, 5m, 1.5h, 2d',
  );
}

const MAX_DAYS = 36_525;
/** The longest duration that is understood: a century, in milliseconds. */
export const ANY_DURATION = MAX_DAYS * 86_400_000;

const withoutUnit = (given: string) =>
  badInput(
    `${given} has no unit.`,
    `Add one: ${given.trim()}s, ${given.trim()}m, ${given.trim()}h or ${given.trim()}d.`,
  );

/** The longest that a timer of Node runs, in milliseconds. A longer one would end at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * An option that is a duration of at least 1ms.
 * @param defaultMs in milliseconds
 * @param maxMs the longest, in milliseconds: by default what a timer can count, 24 days
 */
export const durationOption = (
  flags: string,
  description: string,
  defaultMs: number,
  maxMs = LONGEST_TIMER,
): Option => {
  const [name = flags] = flags.split(' ');
  const parse = (given: string): number => {
    const ms = milliseconds(given);
    if (ms >= 1 && ms <= maxMs) return ms;
    const max = String(Math.floor(maxMs / 86_400_000));
    throw badInput(`${name} ${given} is not from 1ms to ${max}d.`, `Example: ${name} 30s`);
  };
  return new Option(flags, description).argParser(parse).default(defaultMs, duration(defaultMs));
};
