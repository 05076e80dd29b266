import { THIS_VERSION } from '../checkout.ts';
import type { BenchOptions } from '../options.ts';
import { Child } from '../processes/child.ts';
import type { Reply } from '../processes/messages.ts';
import { inTurn, progress, type Round } from '../rounds.ts';
import type { EngineName } from './engines.ts';
import { REDIS_BAR, STORES_PARTS, type StoresPart } from './names.ts';

/** How many deliveries are handled at the same time. */
const AT_A_TIME = 64;
/** Deliveries of one turn, and of one turn in which they come one at a time. */
const SIZES: Record<string, readonly [number, number]> = {
  postgres: [2_000, 100],
  'postgres floor': [2_000, 100],
  sqlite: [2_000, 50],
  'sqlite floor': [256, 50], // each syncs the disk twice
};
const OTHERS = [8_000, 500] as const;

/** The cost of a turn with so many deliveries at a time, and with so few one by one. */
type Turn = (many: number, few: number) => Promise<Required<Pick<Reply, 'cpu' | 'wall' | 'alone'>>>;

/** Memory is beside Redis, whose bar for CPU time depends on it. */
const GROUPS: readonly (readonly EngineName[])[] = [['memory', 'redis'], ['postgres'], ['sqlite']];

/**
 * Every store and its floor, in a process for each store, as in production: in each round, each of
 * them takes a turn with many deliveries at a time, and a turn with one at a time. One database is
 * measured after the other, so that no process idles between its turns. The servers run beside.
 */
export async function storesPart(options: BenchOptions): Promise<Record<StoresPart, Round[]>> {
  type Rounds = Record<string, number>[];
  const all: Record<StoresPart, Rounds> = { stores: [], storesCpu: [], storesAlone: [] };
  for (const group of GROUPS)
    await measure(group, options, (round, costs) => {
      for (const part of STORES_PARTS) Object.assign((all[part][round] ??= {}), costs[part]);
    });
  return all;
}

async function measure(
  group: readonly EngineName[],
  { rounds, quick }: BenchOptions,
  onRound: (round: number, costs: Record<StoresPart, Round>) => void,
): Promise<void> {
  const children: Child[] = [];
  const warmUps = quick ? 1 : 2;
  try {
    const turns: Record<string, Turn> = {};
    for (const name of group) {
      const child = await Child.start('engine', [name, THIS_VERSION]);
      children.push(child);
      const turnOf =
        (of: 'store' | 'floor'): Turn =>
        async (many, few) =>
          (await child.ask({ ask: 'turn', of, many, atATime: AT_A_TIME, few })) as Required<Reply>;
      turns[name] = turnOf('store');
      if (child.ready.hasFloor) turns[`${name} floor`] = turnOf('floor');
    }
    const names = Object.keys(turns).length;
    const shown = progress(`stores: ${group.join(', ')}`, names * (rounds + warmUps));
    for (let round = -warmUps; round < rounds; round++) {
      const costs = await oneRound(turns, quick, () => shown.onTurn());
      if (round >= 0) onRound(round, costs);
    }
    shown.done();
  } finally {
    for (const child of children) await child.stop();
  }
}

async function oneRound(
  turns: Readonly<Record<string, Turn>>,
  quick: boolean,
  onTurn: () => void,
): Promise<Record<StoresPart, Round>> {
  const names = Object.keys(turns);
  const wall: Record<string, number> = inOrder(names);
  const cpu: Record<string, number> = inOrder(names);
  const alone: Record<string, number> = inOrder(
    names.flatMap((name) => [`${name} p50`, `${name} p99`]),
  );
  for (const name of inTurn(names)) {
    const [many, few] = SIZES[name] ?? OTHERS;
    const cost = await (turns[name] as Turn)(quick ? many / 4 : many, few);
    [wall[name], cpu[name]] = [cost.wall, cost.cpu];
    [alone[`${name} p50`], alone[`${name} p99`]] = [cost.alone.p50, cost.alone.p99];
    onTurn();
  }
  // What Redis may cost: what a delivery costs without it, and 1.3 times the floor.
  if (cpu['memory'] !== undefined && cpu['redis floor'] !== undefined)
    cpu[REDIS_BAR] = cpu['memory'] + 1.3 * cpu['redis floor'];
  return { stores: wall, storesCpu: cpu, storesAlone: alone };
}

const inOrder = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, NaN]));
