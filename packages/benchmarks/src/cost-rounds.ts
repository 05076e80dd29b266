import type { BenchOptions } from './options.ts';
import { progress, runRounds, type Round } from './rounds.ts';
import type { Cost } from './stores/load.ts';

/** Rounds of the time of an operation, and of its CPU time in this process. */
export interface CostRounds {
  readonly wall: Round[];
  readonly cpu: Round[];
}

/** Gives each contender one turn in each round. Those with the same first word take turns together. */
export async function costRounds(
  part: string,
  turns: Readonly<Record<string, () => Promise<Cost>>>,
  { rounds, quick }: Pick<BenchOptions, 'rounds' | 'quick'>,
): Promise<CostRounds> {
  const names = Object.keys(turns);
  const warmUps = quick ? 1 : 2;
  const shown = progress(part, names.length * (rounds + warmUps));
  const cpu: Record<string, number>[] = [];
  const runners = Object.fromEntries(
    Object.entries(turns).map(([name, run]) => {
      let round = -warmUps;
      const turn = async () => {
        const cost = await run();
        if (round >= 0) (cpu[round] ??= inOrder(names))[name] = cost.cpu;
        round += 1;
        return cost.wall;
      };
      return [name, { turn, stop: () => Promise.resolve() }];
    }),
  );
  try {
    const wall = await runRounds(runners, { rounds, warmUps, onTurn: () => shown.onTurn() });
    return { wall, cpu };
  } finally {
    shown.done();
  }
}

const inOrder = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, NaN]));
