import { SimulatorError } from '../simulator-error.ts';

/** Milliseconds, or a string such as `'250ms'`, `'30s'`, `'5m'`, `'1.5h'`, `'2d'`. */
export type Duration = number | string;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Converts a duration to milliseconds.
 * @throws SimulatorError `invalid-input` when it is negative, infinite or not a duration
 */
export function milliseconds(duration: unknown): number {
  if (typeof duration === 'number' && Number.isFinite(duration) && duration >= 0) return duration;
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(String(duration).trim());
  if (typeof duration !== 'string' || !match)
    throw new SimulatorError(
      'invalid-input',
      'A duration must be a number of milliseconds, or a string such as "30s", "5m" or "1h".',
    );
  return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
}
