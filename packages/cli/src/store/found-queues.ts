import type { PostgresClient } from '@call-webhooks/postgres';
import type { FoundQueue } from './engine.ts';

/** Sends a command to one server of Redis. */
export type RedisSend = (command: readonly [string, ...string[]]) => Promise<unknown>;

/** No more pages of keys are looked at, which are a million keys. */
const MAX_PAGES = 1_000;

async function* keysOf(send: RedisSend, pattern: string): AsyncGenerator<string> {
  let cursor = '0';
  for (let page = 0; page < MAX_PAGES; page++) {
    const scan = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', '1000'] as const;
    const [next, keys] = (await send(scan)) as [string | Buffer, (string | Buffer)[]];
    for (const key of keys) yield String(key);
    cursor = String(next);
    if (cursor === '0') return;
  }
}

/** Whether any server has a key that fits. */
export async function hasKeys(servers: readonly RedisSend[], pattern: string): Promise<boolean> {
  for (const send of servers) for await (const _key of keysOf(send, pattern)) return true;
  return false;
}

/** The queues of BullMQ: each has a hash of settings with the version of BullMQ. */
export async function bullQueues(servers: readonly RedisSend[]): Promise<FoundQueue[]> {
  const found: FoundQueue[] = [];
  for (const send of servers)
    for await (const key of keysOf(send, '*:meta')) {
      const [, prefix, name] = /^(.+):([^:]+):meta$/.exec(key) ?? [];
      if (prefix === undefined || name === undefined) continue;
      // A key of somebody else may be no hash.
      const version = await send(['HGET', key, 'version']).catch(() => '');
      if (String(version).startsWith('bullmq')) found.push({ name, prefix });
    }
  return sorted(found);
}

/** The queues of pg-boss in all schemas, without those that pg-boss and workers keep for themselves. */
export async function bossQueues(client: PostgresClient): Promise<FoundQueue[]> {
  const ask = async (text: string) =>
    ((await client.query(text)) as { rows: { name: string }[] }).rows;
  const schemas = await ask(
    `SELECT quote_ident(n.nspname) AS name FROM pg_namespace AS n
     WHERE (SELECT count(*) FROM pg_class AS c
       WHERE c.relnamespace = n.oid AND c.relname IN ('job', 'queue', 'version')) = 3
     ORDER BY 1`,
  );
  const found: FoundQueue[] = [];
  for (const { name: prefix } of schemas) {
    // This user may not be allowed to read what belongs to another one.
    const queues = await ask(`SELECT name FROM ${prefix}.queue`).catch(() => []);
    const names = new Set(queues.map(({ name }) => name));
    for (const name of names)
      if (!name.startsWith('__pgboss') && !(name.endsWith('-dead') && names.has(name.slice(0, -5))))
        found.push({ name, prefix });
  }
  return sorted(found);
}

const sorted = (queues: FoundQueue[]) =>
  queues.sort((one, other) =>
    `${one.prefix} ${one.name}`.localeCompare(`${other.prefix} ${other.name}`),
  );
