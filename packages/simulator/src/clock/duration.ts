/**
 * A duration: milliseconds, or a string with a unit, such as `'250ms'`, `'30s'`, `'5m'`, `'1.5h'` or
 * `'2d'`.
 */
export type Duration = number | string;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A century: dates reach only some thousands of them. */
const LONGEST = 36_525 * UNITS.d;

/**
 * Converts a duration to milliseconds. Returns `undefined` if it is not a duration, negative, or longer
 * than 36,525 days. A string needs a unit.
 */
export function parseDuration(duration: unknown): number | undefined {
  const ms = typeof duration === 'number' ? duration : millisecondsOf(duration);
  return ms !== undefined && ms >= 0 && ms <= LONGEST ? ms : undefined;
}

function millisecondsOf(duration: unknown): number | undefined {
  if (typeof duration !== 'string') return undefined;
  const [, number, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(duration) ?? [];
  return number === undefined ? undefined : Number(number) * UNITS[unit as keyof typeof UNITS];
}
