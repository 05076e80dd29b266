import { randomUUID } from 'node:crypto';
import type { Answers } from './contender-process.ts';
import { OPEN } from './databases.ts';
import { costOf, latencyOf, throughReceiver, type Prepare } from './load.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Start } from './rounds.ts';
import { processesBesideServers, type StoreName } from './servers.ts';

/** How many deliveries are handled at the same time. */
const AT_A_TIME = 64;

/** Deliveries of one turn, and of one turn in which they come one at a time. */
const SIZES: Record<string, readonly [many: number, few: number]> = {
  memory: [8_000, 500],
  redis: [8_000, 500],
  'redis floor': [8_000, 500],
  postgres: [2_000, 100],
  'postgres floor': [2_000, 100],
  mysql: [2_000, 100],
  'mysql floor': [2_000, 100],
  sqlite: [2_000, 50],
  'sqlite floor': [256, 50], // each syncs the disk twice
};
const COMPARE = ['redis', 'postgres', 'mysql', 'sqlite'].map(
  (name) => [name, `${name} floor`] as const,
);

/** A process for each store and its floor, as in production, beside a server of its own. */
export async function measure(options: BenchOptions): Promise<Result> {
  const beside = processesBesideServers(import.meta.url);
  const start =
    (name: string, sizes: readonly [number, number]): Start =>
    async (root) => {
      const [store, floor] = name.split(' ') as [StoreName, string?];
      const { process, stop } = await beside(store, [store, root]);
      const [many, few] = options.quick ? [20, 5] : sizes;
      return { turn: () => process.ask('turn', { isFloor: floor !== undefined, many, few }), stop };
    };
  const contenders = Object.fromEntries(
    Object.entries(SIZES).map(([name, sizes]) => [name, start(name, sizes)]),
  );
  const isOurs = (name: string) => !name.endsWith('floor');
  const rounds = await runRounds({ contenders, compare: COMPARE, isOurs, warmUps: 2 }, options);
  return { title: `one delivery of ${String(AT_A_TIME)} at a time`, rounds, compare: COMPARE };
}

interface Turn {
  readonly isFloor: boolean;
  readonly many: number;
  readonly few: number;
}

export async function serve(place: string, name: StoreName, root: string): Promise<Answers> {
  const opened = await OPEN[name](root, place);
  const ours = await throughReceiver(root, opened.store);
  let floor: Prepare | undefined;

  async function openFloor(): Promise<Prepare> {
    const run = await opened.floor();
    return (number) => Array.from({ length: number }, () => () => run(randomUUID()));
  }

  return {
    async turn({ isFloor, many, few }: Turn) {
      const prepare = isFloor ? (floor ??= await openFloor()) : ours;
      // V8 shrinks the heap of a process that is idle, as during the turns of others.
      await costOf(prepare, many / 2, AT_A_TIME);
      return {
        ...(await costOf(prepare, many, AT_A_TIME)),
        ...(await latencyOf(prepare, few)),
      };
    },
    stop: opened.close,
  };
}
