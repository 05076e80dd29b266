import { THIS_VERSION } from '../checkout.ts';
import type { BenchOptions } from '../options.ts';
import { progress, shuffled, type Round } from '../rounds.ts';
import { ENGINES, type Engine } from './engines.ts';
import { costOf, floorPath, latencyOf, receiverPath, type Path } from './load.ts';
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

/**
 * Every store beside its floor, in one process: in each round, each of them takes a turn with many
 * deliveries at a time, and a turn with one at a time. The servers run beside this process.
 */
export async function storesPart({
  rounds,
  quick,
}: BenchOptions): Promise<Record<StoresPart, Round[]>> {
  const engines: Engine[] = [];
  const warmUps = quick ? 1 : 2;
  const all: Record<StoresPart, Round[]> = { stores: [], storesCpu: [], storesAlone: [] };
  try {
    const paths: Record<string, Path> = {};
    for (const [name, start] of Object.entries(ENGINES)) {
      const engine = await start(THIS_VERSION);
      engines.push(engine);
      paths[name] = await receiverPath(THIS_VERSION, { store: engine.store });
      if (engine.floor) paths[`${name} floor`] = floorPath(engine.floor);
    }
    const shown = progress('stores', Object.keys(paths).length * (rounds + warmUps));
    for (let round = -warmUps; round < rounds; round++) {
      const costs = await oneRound(paths, quick, () => shown.onTurn());
      if (round < 0) continue;
      for (const part of STORES_PARTS) all[part].push(costs[part]);
    }
    shown.done();
    return all;
  } finally {
    for (const engine of engines) await engine.stop();
  }
}

async function oneRound(
  paths: Readonly<Record<string, Path>>,
  quick: boolean,
  onTurn: () => void,
): Promise<Record<StoresPart, Round>> {
  const names = Object.keys(paths);
  const wall: Record<string, number> = inOrder(names);
  const cpu: Record<string, number> = inOrder(names);
  const alone: Record<string, number> = inOrder(
    names.flatMap((name) => [`${name} p50`, `${name} p99`]),
  );
  for (const name of shuffled(names)) {
    const path = paths[name] as Path;
    const [many, few] = SIZES[name] ?? OTHERS;
    const cost = await costOf(path, quick ? many / 4 : many, AT_A_TIME);
    [wall[name], cpu[name]] = [cost.wall, cost.cpu];
    const { p50, p99 } = await latencyOf(path, few);
    [alone[`${name} p50`], alone[`${name} p99`]] = [p50, p99];
    onTurn();
  }
  // What Redis may cost: what a delivery costs without it, and 1.3 times the floor.
  cpu[REDIS_BAR] = (cpu['memory'] as number) + 1.3 * (cpu['redis floor'] as number);
  return { stores: wall, storesCpu: cpu, storesAlone: alone };
}

const inOrder = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, NaN]));
