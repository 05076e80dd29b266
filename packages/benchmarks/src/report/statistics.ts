import type { Round } from '../rounds.ts';

export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The median of some values, and the limits of their middle half. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)] ?? NaN;
  return { median: median(values), low: at(0.25), high: at(0.75) };
}

/** As it is shown in tables. */
export const withSpread = ({ median, low, high }: Spread): string =>
  `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

/**
 * `cost(a) / cost(b)`, divided within each round, so that a slow moment of the machine is in both
 * and cancels out.
 */
export const ratio = <Name extends string>(
  rounds: readonly Round<Name>[],
  a: Name,
  b: Name,
): Spread => spread(rounds.map((round) => round[a] / round[b]));
