import type { QueuedDelivery } from '@call-webhooks/core';
import { THIS_VERSION } from '../checkout.ts';
import { costRounds, type CostRounds } from '../cost-rounds.ts';
import type { BenchOptions } from '../options.ts';
import { costOf, receiverPath, type Cost, type Path } from '../stores/load.ts';
import { queuedDeliveries, type Backend } from './backend.ts';
import { openBullmq } from './bullmq.ts';
import { drain } from './drain.ts';
import type { QueueName } from './names.ts';
import { openPgBoss } from './pg-boss.ts';
import { openSqlite } from './sqlite.ts';

/** How many deliveries are handed over at the same time. */
const AT_A_TIME = 64;
const OPEN: Record<QueueName, (root: string) => Promise<Backend>> = {
  bullmq: openBullmq,
  'pg-boss': openPgBoss,
  sqlite: openSqlite,
};
/** Jobs of one turn: handed over, and run. */
const SIZES: Record<QueueName, readonly [number, number]> = {
  bullmq: [4_000, 2_000],
  'pg-boss': [2_000, 1_000],
  sqlite: [4_000, 2_000],
};
/** The same for the floor; each of its jobs syncs the disk. */
const BARE_SIZES: Partial<typeof SIZES> = { sqlite: [512, 256] };

type Turns = Record<string, () => Promise<Cost>>;

/** Deliveries to a queue: through a receiver, by `enqueue` alone, and with bare calls. */
export const queuesPart = (options: BenchOptions): Promise<CostRounds> =>
  withBackends('queues', options, async (name, backend) => {
    const [many] = sizesOf(name, options);
    const [few] = sizesOf(name, options, true);
    const turn = (path: Path, number: number) => async () => {
      const cost = await costOf(path, number, AT_A_TIME);
      await backend.clear();
      return cost;
    };
    const receiver = await receiverPath(THIS_VERSION, { queue: backend.queue });
    return {
      [name]: turn(receiver, many),
      [`${name} enqueue`]: turn(
        pathOf((delivery) => backend.queue.enqueue(delivery)),
        many,
      ),
      [`${name} floor`]: turn(
        pathOf((delivery) => backend.addBare(delivery)),
        few,
      ),
    };
  });

/** A worker that empties a queue, and a bare one that does. */
export const workersPart = (options: BenchOptions): Promise<CostRounds> =>
  withBackends('workers', options, (name, backend) => {
    const [, many] = sizesOf(name, options);
    const [, few] = sizesOf(name, options, true);
    return {
      [name]: () => drain(backend, 'ours', many),
      [`${name} floor`]: () => drain(backend, 'bare', few),
    };
  });

async function withBackends(
  part: string,
  options: BenchOptions,
  turnsOf: (name: QueueName, backend: Backend) => Promise<Turns> | Turns,
): Promise<CostRounds> {
  const backends: Backend[] = [];
  try {
    const turns: Turns = {};
    for (const [name, open] of Object.entries(OPEN) as [QueueName, (typeof OPEN)[QueueName]][]) {
      const backend = await open(THIS_VERSION);
      backends.push(backend);
      Object.assign(turns, await turnsOf(name, backend));
    }
    return await costRounds(part, turns, options);
  } finally {
    for (const backend of backends) await backend.stop();
  }
}

const pathOf = (add: (delivery: QueuedDelivery) => Promise<unknown>): Path => ({
  prepare: (number) => queuedDeliveries(number).map((delivery) => () => add(delivery)),
});

function sizesOf(name: QueueName, { quick }: BenchOptions, isBare = false) {
  const [added, run] = (isBare && BARE_SIZES[name]) || SIZES[name];
  return quick ? ([added / 4, run / 4] as const) : ([added, run] as const);
}
