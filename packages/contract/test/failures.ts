import type { Vector, VectorDelivery } from '../src/index.ts';

/** What a receiver made of one delivery. */
export interface Observed {
  readonly status: number;
  readonly effects: number;
}

/** What is wrong about it; `undefined` if it is right. */
export function failure(
  { id }: Vector,
  { expect }: VectorDelivery,
  at: number,
  { status, effects }: Observed,
): string | undefined {
  const isRight =
    expect.statuses.some(([from, to]) => from <= status && status <= to) &&
    expect.effects === effects;
  if (isRight) return undefined;
  return `${id}, delivery ${at + 1}: ${expect.result} expected, but it got ${status} and ${effects} effects`;
}
