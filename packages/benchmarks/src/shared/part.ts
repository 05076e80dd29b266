import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { THIS_VERSION } from '../checkout.ts';
import { costRounds, type CostRounds } from '../cost-rounds.ts';
import type { BenchOptions } from '../options.ts';
import { Child } from '../processes/child.ts';
import type { Cost } from '../stores/load.ts';
import { startPostgres, startRedis, type RunningServer } from '../stores/servers.ts';
import { PROCESSES, type SharedName } from './names.ts';

/** How many deliveries each process handles at the same time. */
const AT_A_TIME = 64;
/** Deliveries of one turn, all processes together; a fifth of it can be divided by eight as well. */
const TURN: Record<SharedName, number> = { redis: 16_000, postgres: 4_000, sqlite: 8_000 };

/** Where a store is, for all processes. */
interface Place {
  readonly place: string;
  readonly stop: () => unknown;
}

const START: Record<SharedName, () => Promise<Place>> = {
  redis: async () => onPort(await startRedis()),
  postgres: async () => onPort(await startPostgres()),
  sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-bench-'));
    const stop = () => rmSync(folder, { recursive: true, force: true });
    return Promise.resolve({ place: join(folder, 'store.db'), stop });
  },
};

const onPort = (server: RunningServer): Place => ({
  place: String(server.port),
  stop: () => server.stop(),
});

/** As many deliveries through one, two, four and eight receivers on one store. */
export async function processesPart(options: BenchOptions): Promise<CostRounds> {
  const stops: (() => unknown)[] = [];
  const turns: Record<string, () => Promise<Cost>> = {};
  try {
    for (const [name, start] of Object.entries(START) as [SharedName, () => Promise<Place>][]) {
      const { place, stop } = await start();
      stops.unshift(stop);
      const children: Child[] = [];
      while (children.length < Math.max(...PROCESSES)) {
        const child = await Child.start('receiver', [name, place, THIS_VERSION]);
        children.push(child);
        stops.unshift(() => child.stop());
      }
      const deliveries = options.quick ? TURN[name] / 5 : TURN[name];
      for (const count of PROCESSES)
        turns[`${name} ${String(count)}`] = () => together(children.slice(0, count), deliveries);
    }
    return await costRounds('processes', turns, options);
  } finally {
    for (const stop of stops) await stop();
  }
}

/** The time of one handled delivery, of all processes together, and its CPU time in them. */
async function together(children: readonly Child[], deliveries: number): Promise<Cost> {
  const operations = deliveries / children.length;
  await Promise.all(children.map((child) => child.ask({ ask: 'prepare', operations })));
  const from = performance.now();
  const replies = await Promise.all(
    children.map((child) => child.ask({ ask: 'handle', atATime: AT_A_TIME })),
  );
  const wall = (performance.now() - from) * 1_000;
  const sum = (what: 'cpu' | 'handled') =>
    replies.reduce((total, reply) => total + (reply[what] ?? 0), 0);
  const handled = sum('handled');
  const text = `${String(handled)} of ${String(deliveries)} deliveries were handled by ${String(children.length)} receivers`;
  if (handled < deliveries / 2) throw new Error(`Only ${text}.`);
  if (handled < deliveries) console.warn(`${text}; the store was busy for the others.`);
  return { wall: wall / handled, cpu: sum('cpu') / handled };
}
