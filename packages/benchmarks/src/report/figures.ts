import type { Round } from '../running/rounds.ts';
import { spread, type Spread } from './ratios.ts';

/** The parts of a run; each has rounds of its own. */
export type Part = 'verify' | 'http' | 'store' | 'import';

/** One figure of the project's goals: a ratio of CPU times within a round. */
interface Goal {
  readonly name: string;
  readonly part: Part;
  /** The cost of `over` divided by the cost of `under`. */
  readonly over: string;
  readonly under: string;
  /** `least`: at least the bar is wanted; `most`: at most. */
  readonly want: 'least' | 'most';
  readonly bar: number;
  readonly aim: number;
}

const goal = (
  part: Part,
  name: string,
  [over, under]: readonly [string, string],
  want: Goal['want'],
  [bar, aim]: readonly [number, number],
): Goal => ({ part, name, over, under, want, bar, aim });

export const GOALS: readonly Goal[] = [
  goal(
    'verify',
    'verify against createHmac + timingSafeEqual',
    ['createHmac', 'ours'],
    'least',
    [1, 1.7],
  ),
  goal('verify', 'verify against standardwebhooks', ['standardwebhooks', 'ours'], 'least', [7, 12]),
  goal('verify', 'verify against svix', ['svix', 'ours'], 'least', [7, 12]),
  goal(
    'http',
    'Express with ours ÷ Express raw, empty handler',
    ['express ours', 'express raw'],
    'most',
    [1.15, 1],
  ),
  goal(
    'http',
    'Express with ours ÷ Express + standardwebhooks + two lru-caches',
    ['express ours', 'express + standardwebhooks + lru'],
    'most',
    [0.85, 0.72],
  ),
  goal(
    'http',
    'Fastify with ours ÷ Fastify raw',
    ['fastify ours', 'fastify raw'],
    'most',
    [2.2, 1.6],
  ),
  goal(
    'http',
    'Fastify with ours ÷ Fastify + standardwebhooks + two lru-caches',
    ['fastify ours', 'fastify + standardwebhooks + lru'],
    'most',
    [0.9, 0.75],
  ),
  goal('http', 'node handler ÷ bare node:http', ['node ours', 'node bare'], 'most', [2.5, 1.8]),
  goal('store', 'admit at 1e6 ids ÷ at 1e3 ids', ['1000000', '1000'], 'most', [3, 2]),
  goal('import', 'import of core ÷ import of zod', ['core', 'zod'], 'most', [1.3, 1.1]),
];

export interface Figure extends Goal {
  readonly ratio: Spread;
  readonly verdict: 'aim' | 'bar' | 'missed';
}

/** The figures that a run has the contenders for. */
export function figures(
  parts: Readonly<Partial<Record<Part, readonly Round<string>[]>>>,
): Figure[] {
  return GOALS.flatMap((wanted) => {
    const rounds = parts[wanted.part] ?? [];
    const { over, under } = wanted;
    const ratios = rounds.flatMap((round) => {
      const [a, b] = [round[over], round[under]];
      return a === undefined || b === undefined ? [] : [a / b];
    });
    if (ratios.length === 0) return [];
    const ratio = spread(ratios);
    return [{ ...wanted, ratio, verdict: verdict(ratio.median, wanted) }];
  });
}

export function verdict(
  value: number,
  { want, bar, aim }: Pick<Goal, 'want' | 'bar' | 'aim'>,
): Figure['verdict'] {
  const reaches = (mark: number) => (want === 'least' ? value >= mark : value <= mark);
  if (reaches(aim)) return 'aim';
  return reaches(bar) ? 'bar' : 'missed';
}
