import { cpuMicros, type Answers } from './contender-process.ts';
import { OPEN, SERVERS, type Engine, type EngineName, type Which } from './job-engines.ts';
import { costOf, throughReceiver } from './load.ts';
import { queuedDeliveries } from './deliveries.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Figures, type Start } from './rounds.ts';
import { processesBesideServers } from './servers.ts';

/** How many deliveries are handed over at the same time. */
const AT_A_TIME = 64;

/** Jobs of one turn. Each job of the bare SQLite table syncs the disk. */
const JOBS: Record<EngineName, Record<Which, number>> = {
  bullmq: { ours: 2_000, bare: 2_000 },
  'pg-boss': { ours: 1_000, bare: 1_000 },
  sqlite: { ours: 2_000, bare: 256 },
};

/** What a turn does, and with whose code. */
const TURNS = {
  receiver: ['receive', 'ours'],
  enqueue: ['add', 'ours'],
  'bare add': ['add', 'bare'],
  worker: ['drain', 'ours'],
  'bare worker': ['drain', 'bare'],
} as const satisfies Record<string, readonly [string, Which]>;

const ENGINES = Object.keys(JOBS) as EngineName[];
const COMPARE = ENGINES.flatMap((engine) => [
  [`${engine} receiver`, `${engine} bare add`] as const,
  [`${engine} enqueue`, `${engine} bare add`] as const,
  [`${engine} worker`, `${engine} bare worker`] as const,
]);

/** Deliveries that are handed over to a queue, and workers that empty one, beside bare calls and workers. */
export async function measure(options: BenchOptions): Promise<Result> {
  const beside = processesBesideServers(import.meta.url);
  const start =
    (engine: EngineName, [ask, which]: readonly [string, Which]): Start =>
    async (root) => {
      const server = SERVERS[engine];
      const { process, stop } = await beside(server, [engine, root], { durable: true });
      const number = options.quick ? 20 : JOBS[engine][which];
      return { turn: () => process.ask(ask, { which, number }), stop };
    };
  const contenders = Object.fromEntries(
    ENGINES.flatMap((engine) =>
      Object.entries(TURNS).map(([name, turn]) => [`${engine} ${name}`, start(engine, turn)]),
    ),
  );
  const isOurs = (name: string) => !name.includes('bare');
  const rounds = await runRounds({ contenders, compare: COMPARE, isOurs, warmUps: 2 }, options);
  return { title: 'one job', rounds, compare: COMPARE };
}

interface Turn {
  readonly which: Which;
  readonly number: number;
}

export async function serve(place: string, name: EngineName, root: string): Promise<Answers> {
  const engine = await OPEN[name](root, place);
  const receive = await throughReceiver(root, { queue: engine.queue });
  return {
    async receive({ number }: Turn) {
      const cost = await costOf(receive, number, AT_A_TIME);
      await engine.clear();
      return cost;
    },
    async add({ which, number }: Turn) {
      const prepare = (count: number) =>
        queuedDeliveries(count).map((delivery) => () => engine.add(which, delivery));
      const cost = await costOf(prepare, number, AT_A_TIME);
      await engine.clear();
      return cost;
    },
    drain: ({ which, number }: Turn) => drain(engine, which, number),
    stop: () => engine.close(),
  };
}

/** Prepares jobs, and measures what each takes until a worker has done all of them. */
async function drain(engine: Engine, which: Which, number: number): Promise<Figures> {
  await Promise.all(queuedDeliveries(number).map((delivery) => engine.add(which, delivery)));
  const open = await engine.openJobs(which);
  if (open !== number) throw new Error(`${String(open)} of ${String(number)} jobs are open.`);
  let runs = 0;
  const [cpu, time] = [cpuMicros(), performance.now()];
  const worker = await new Promise<{ close(): Promise<unknown> }>((resolve) => {
    const started = engine.startWorker(which, () => {
      // Later, since a worker may run all jobs before it has been returned.
      if (++runs === number) setImmediate(() => resolve(started));
    });
  });
  while ((await engine.openJobs(which)) > 0); // the last handlers have run, and are being committed
  const figures = {
    'time µs': ((performance.now() - time) * 1_000) / number,
    'CPU µs': (cpuMicros() - cpu) / number,
  };
  await worker.close();
  await engine.clear();
  if (runs !== number) throw new Error(`${String(number)} jobs were run ${String(runs)} times.`);
  return figures;
}
