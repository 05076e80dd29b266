import type { QueueJobs } from '@call-webhooks/core/stores';
import { pgBossJobs, type PgBossClient } from '@call-webhooks/postgres';
import { bullmqJobs, type BullmqAllJobs } from '@call-webhooks/redis';
import { sqliteJobs, sqliteQueue } from '@call-webhooks/sqlite';
import { badInput } from '../errors.ts';
import type { FoundQueue, OpenedStore } from './engine.ts';
import { sqliteClients } from './engines.ts';
import { shellWord } from '../terminal/shell.ts';
import { type ClientPackage, openWithInstalled } from './installed-client.ts';

/** Where the jobs of a queue are. */
export interface QueueNames {
  /** The URL of the store, in whose server or file the queue is. */
  readonly url: string;
  /** The prefix of the store. */
  readonly prefix?: string | undefined;
  /** The name of the queue; a queue in SQLite has none. */
  readonly queue?: string | undefined;
  /** The prefix of BullMQ, or the schema of pg-boss. */
  readonly queuePrefix?: string | undefined;
}

interface OpenedJobs {
  readonly jobs: QueueJobs;
  readonly close: () => Promise<unknown>;
}

type Closable = BullmqAllJobs & { close(): Promise<unknown> };
type QueueClass = new (name: string, options: object) => Closable;
type Boss = PgBossClient & {
  on(event: 'error', listener: () => void): unknown;
  start(): Promise<unknown>;
  stop(options: object): Promise<unknown>;
};
type BossClass = new (options: object) => Boss;

/** What BullMQ and pg-boss use if nothing else is given. */
const prefixOf = ({ url, queuePrefix }: QueueNames) =>
  queuePrefix ?? (url.startsWith('redis') ? 'bull' : 'pgboss');

/**
 * Checks the name of a queue before it is opened: BullMQ would create it.
 * @throws CliError 2 that names the queues of this server
 */
async function checkQueue(names: QueueNames, { queues }: Pick<OpenedStore, 'queues'>) {
  const found = (await queues?.()) ?? [];
  const prefix = prefixOf(names);
  if (found.some((one) => one.name === names.queue && one.prefix === prefix)) return;
  const kind = names.url.startsWith('redis') ? 'prefix' : 'schema';
  throw badInput(
    `There is no queue ${String(names.queue)} with the ${kind} ${prefix} on this server.`,
    found.length > 0
      ? `It has ${queuesText(found)}.`
      : 'This user cannot see any queue there. Check the URL, and the database number in it.',
  );
}

/** Such as `--queue calls, --queue calls --queue-prefix shop`. */
export const queuesText = (queues: readonly FoundQueue[]): string =>
  queues
    .map(({ name, prefix }) => {
      const isUsual = prefix === 'bull' || prefix === 'pgboss';
      return `--queue ${shellWord(name)}${isUsual ? '' : ` --queue-prefix ${shellWord(prefix)}`}`;
    })
    .join(', ');

/**
 * Opens the jobs of a queue. A SQLite file has one queue; the others are looked at if they are named.
 * @returns `undefined` if there is no queue to look at
 * @throws CliError 2 for a queue that does not exist, 3 when its package is not installed; and what its client throws
 */
export async function openJobs(
  names: QueueNames,
  opened: Pick<OpenedStore, 'queues'>,
): Promise<OpenedJobs | undefined> {
  const { url, prefix, queue, queuePrefix } = names;
  const never = new AbortController().signal;
  if (url.startsWith('sqlite:')) {
    if (queue !== undefined)
      throw badInput(
        'A queue in SQLite has no name.',
        'Leave out --queue: the command searches this queue anyway.',
      );
    const file = url.slice('sqlite:'.length);
    const db = await openWithInstalled(sqliteClients(false), file, never);
    return { jobs: sqliteJobs(sqliteQueue(db, { prefix })), close: async () => db.close() };
  }
  if (queue === undefined) return undefined;
  if (!/^(?:rediss?|postgres(?:ql)?):/.test(url))
    throw badInput(
      'Only Redis, Postgres and SQLite can have a queue.',
      "Leave out --queue, or pass --store with the URL of the queue's server.",
    );
  await checkQueue(names, opened);
  if (url.startsWith('redis')) {
    const open = ({ Queue }: { Queue: QueueClass }, from: string) => {
      const connection = { url: from, maxRetriesPerRequest: 1 };
      return new Queue(queue, { connection, ...(queuePrefix && { prefix: queuePrefix }) });
    };
    const packages: ClientPackage<Closable>[] = [{ name: 'bullmq', open }];
    const opened = await openWithInstalled(packages, url, never);
    return { jobs: bullmqJobs(opened), close: () => opened.close() };
  }
  const open = async (module: { PgBoss?: BossClass; default?: BossClass }, from: string) => {
    const PgBoss = (module.PgBoss ?? module.default) as BossClass;
    const schema = queuePrefix && { schema: queuePrefix };
    const passive = { supervise: false, schedule: false, migrate: false };
    const boss = new PgBoss({ connectionString: from, max: 2, ...passive, ...schema });
    boss.on('error', () => undefined);
    await boss.start();
    return boss;
  };
  const packages: ClientPackage<Promise<Boss>>[] = [{ name: 'pg-boss', open }];
  const boss = await openWithInstalled(packages, url, never);
  return {
    jobs: pgBossJobs(boss, { queue, schema: queuePrefix }),
    close: () => boss.stop({ graceful: false, wait: true }),
  };
}
