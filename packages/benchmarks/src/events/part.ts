import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { THIS_VERSION } from '../checkout.ts';
import { costRounds } from '../cost-rounds.ts';
import type { BenchOptions } from '../options.ts';
import type { Round } from '../rounds.ts';
import { costOf, type Cost } from '../stores/load.ts';
import { checkFilled, newEvents, type Database } from './filled-store.ts';
import { contender, SIZES, type FilledName } from './names.ts';
import { openPostgres } from './postgres.ts';
import { openRedis } from './redis.ts';
import { openSqlite } from './sqlite.ts';

/** How many events are admitted and completed at the same time. */
const AT_A_TIME = 64;
const OPEN: Record<FilledName, (root: string) => Promise<Database>> = {
  redis: openRedis,
  postgres: openPostgres,
  sqlite: openSqlite,
};
/** Events of one turn. */
const TURN: Record<FilledName, number> = { redis: 8_000, postgres: 2_000, sqlite: 2_000 };
/** More than Redis takes in memory, and Postgres and SQLite together on disk, with their logs. */
const ROOM = { memory: 900, disk: 2_000 } as const;

/** The rounds, and what one event takes in each store: memory in Redis, disk in the others. */
export interface Events {
  readonly events: Round[];
  readonly bytesPerEvent: Record<string, number>;
}

/**
 * `admit` and `complete` of new events in stores that remember more and more of them. Before each turn,
 * as many old events expire as the turn adds, so that the turn has to sweep, and the store keeps its size.
 */
export async function eventsPart(options: BenchOptions): Promise<Events> {
  const sizes = SIZES.filter((size) => size <= options.events);
  checkRoom(sizes.reduce<number>((sum, size) => sum + size, 0));
  const databases: Database[] = [];
  const bytesPerEvent: Record<string, number> = {};
  const turns: Record<string, () => Promise<Cost>> = {};
  try {
    for (const [name, open] of Object.entries(OPEN) as [FilledName, (typeof OPEN)[FilledName]][]) {
      const database = await open(THIS_VERSION);
      databases.push(database);
      const number = options.quick ? TURN[name] / 4 : TURN[name];
      for (const size of sizes) {
        const filled = await database.fill(size);
        await checkFilled(filled, size);
        bytesPerEvent[contender(name, size)] = filled.bytesPerEvent;
        const path = newEvents(filled.store, size);
        turns[contender(name, size)] = async () => {
          await filled.expire(number);
          return costOf(path, number, AT_A_TIME);
        };
      }
    }
    const { wall } = await costRounds('events', turns, options);
    return { events: wall, bytesPerEvent };
  } finally {
    for (const database of databases) await database.stop();
  }
}

/** @throws Error when the machine could run out of memory or disk */
function checkRoom(events: number): void {
  const { bavail, bsize } = statfsSync(tmpdir());
  const free = { memory: process.availableMemory(), disk: bavail * bsize };
  for (const kind of ['memory', 'disk'] as const) {
    const needed = events * ROOM[kind];
    if (free[kind] >= needed) continue;
    const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
    throw new Error(
      `${events.toLocaleString('en')} events may take ${gigabytes(needed)} of ${kind}, and ${gigabytes(free[kind])} are free. Lower --events.`,
    );
  }
}
