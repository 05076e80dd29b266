import { checkDatabase } from './database.ts';
import { explained } from './scripts.ts';
import { clientOf, type HasRedisClient } from './server-warnings.ts';

/** What is used of BullMQ's `Queue` and `Worker` to make a write of theirs. */
export interface Pinged extends HasRedisClient {
  readonly name?: string;
  readonly opts?: { prefix?: string };
}

/**
 * Makes the kinds of writes that BullMQ makes when a job is added, on a key of the queue that is gone
 * afterwards. So a server that is full, read-only or without its replicas refuses it, and so do the
 * rights of a user.
 *
 * KEYS: one that nobody uses, and the `meta` and `id` of the queue. Returns whether the queue exists,
 * and whether it is paused.
 */
const ADDS = `
local key = KEYS[1]
local function try(...)
  redis.call(...)
  redis.call('DEL', key)
end
-- The first write needs memory: after another one, a full server would take all of them.
try('SET', key, '1', 'PX', 1000)
try('INCR', key)
try('HMSET', key, 'field', '1')
try('LPUSH', key, '1')
try('ZADD', key, 0, '1')
try('XADD', key, '*', 'field', '1')`;

/** What a worker writes besides: the lock of a job, and that it has taken and ended one. */
const WORKS = `
redis.call('LPUSH', key, '1')
try('RPOPLPUSH', key, key)
redis.call('HSET', key, 'field', '1')
try('HINCRBY', key, 'field', 1)
redis.call('ZADD', key, 0, '1')
try('ZREM', key, '1')`;

const STATE = `
local exists = redis.call('EXISTS', KEYS[2]) + redis.call('EXISTS', KEYS[3])
return {exists, redis.call('HMGET', KEYS[2], 'paused')[1] and 1 or 0}`;

const SCRIPTS = { add: ADDS + STATE, work: ADDS + WORKS + STATE } as const;

/** What is used of the client of a queue: ioredis, or what BullMQ 6 makes of the others. */
interface DefiningClient {
  defineCommand(name: string, definition: { lua: string; numberOfKeys: number }): unknown;
  [command: `callWebhooks${string}`]: ((keys: string[]) => Promise<unknown>) | undefined;
}

/** What a queue's server says about it. */
export interface BullmqState {
  /** Whether a `Queue` was ever opened under this name and prefix, in this database. */
  readonly exists: boolean;
  readonly isPaused: boolean;
}

/**
 * Makes the writes of a queue or a worker, on its connection.
 * @returns nothing where BullMQ has another engine than Redis
 * @throws Error if the server refuses them
 */
export async function pingBullmq(
  pinged: Pinged,
  kind: keyof typeof SCRIPTS,
): Promise<BullmqState | undefined> {
  const client = (await clientOf(pinged)) as Partial<DefiningClient> | undefined;
  if (typeof client?.defineCommand !== 'function') return undefined;
  await checkDatabase(client);
  const command = `callWebhooks${kind}` as const;
  if (!client[command]) client.defineCommand(command, { lua: SCRIPTS[kind], numberOfKeys: 3 });
  const queue = `${pinged.opts?.prefix ?? 'bull'}:${pinged.name ?? ''}`;
  const keys = ['call-webhooks-ping', 'meta', 'id'].map((name) => `${queue}:${name}`);
  try {
    const reply = (await client[command]?.(keys)) as [unknown, unknown];
    return { exists: Number(reply[0]) > 0, isPaused: Number(reply[1]) > 0 };
  } catch (error) {
    throw explained(error);
  }
}
