/** Milliseconds, or a string such as `'250ms'`, `'30s'`, `'5m'`, `'1.5h'`, `'2d'`. */
export type Duration = number | string;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration in milliseconds; `undefined` if it is negative, infinite or no duration. */
export function parseDuration(duration: unknown): number | undefined {
  if (typeof duration === 'number')
    return Number.isFinite(duration) && duration >= 0 ? duration : undefined;
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(String(duration));
  if (typeof duration !== 'string' || !match) return undefined;
  return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
}
