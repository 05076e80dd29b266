import { badInput } from '../cli-error.ts';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A parser for an option that is a whole number. */
export const wholeNumber =
  (name: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  (given: string): number => {
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    const range =
      max === Number.MAX_SAFE_INTEGER
        ? `from ${String(min)} on`
        : `from ${String(min)} to ${String(max)}`;
    throw badInput(`${name} is a whole number ${range}, not ${given}.`);
  };

/** A duration such as `30s`, in milliseconds. A bare number would leave the unit open. */
export function milliseconds(given: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(given.trim());
  if (match) return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
  throw badInput(`${given} is no duration.`, 'Like this: 250ms, 30s, 5m, 1.5h, 2d');
}

/** A parser for an option that may be given several times. */
export const collected = (given: string, before: readonly string[] = []): string[] => [
  ...before,
  given,
];
