import type { Logger } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/stores';

/**
 * Asks a server how it keeps things, once, or again with the next call if there was no answer.
 * @param ask logs a warning if the server may lose some; rejects if there was no answer
 */
function askOnce(ask: () => Promise<void>): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    ask().catch(() => {
      isAsked = false;
    });
  };
}

/** Runs a script without keys and arguments. */
type Asked = (script: string) => Promise<string>;

/** What the server says about itself, or nothing if this user may not ask. */
const INFO = `
local memory, persistence = redis.pcall('INFO', 'memory'), redis.pcall('INFO', 'persistence')
if type(memory) == 'table' or type(persistence) == 'table' then return '=' end
return '=' .. memory .. persistence`;

/** The server may drop leases and webhook ids to make room: an event would run twice, and replays pass. */
export const evictionWarning = (ask: Asked, logger: Logger): (() => void) =>
  askOnce(async () => {
    const policy = /maxmemory_policy:([\w-]+)/.exec(await ask(INFO))?.[1];
    if (policy === undefined || policy === 'noeviction') return;
    logger.warn(
      { policy, docs: docsUrl('stores.md#redis') },
      `call-webhooks: the Redis server's maxmemory-policy is ${policy}. When its memory is full, it drops leases and webhook ids, and events may run twice. Set it to noeviction.`,
    );
  });

/** The server may lose dead letters: their deliveries were acknowledged. */
export const deadLetterWarning = (ask: Asked, logger: Logger): (() => void) =>
  askOnce(async () => {
    const info = await ask(INFO);
    const problems = [
      info.includes('maxmemory_policy:allkeys') && 'drops keys when its memory is full',
      info.includes('aof_enabled:0') && 'has appendonly set to no and loses its data at a restart',
    ].filter((problem) => problem !== false);
    if (problems.length === 0) return;
    logger.warn(
      { docs: docsUrl('stores.md#redis') },
      `call-webhooks: the Redis server of the dead letters ${problems.join(', and ')}. Dead letters could be lost.`,
    );
  });

/** Where BullMQ's `Queue` and `Worker` have their client: `client` in version 5, the backend's in version 6. */
export interface HasRedisClient {
  readonly client?: unknown;
  getBackend?(): unknown;
}

/** The client of a `Queue` or a `Worker`. */
export async function clientOf(owner: HasRedisClient): Promise<unknown> {
  const backend = owner.getBackend?.() as { client?: unknown } | undefined;
  return owner.client ?? backend?.client;
}

/** ioredis. */
interface ConfigClient {
  config(subcommand: 'GET', name: string): Promise<unknown>;
}

/**
 * The server of a queue would lose acknowledged deliveries when it restarts. Managed servers refuse the
 * question, and have their own ways.
 */
export const persistenceWarning = (queue: HasRedisClient, logger: Logger): (() => void) =>
  askOnce(async () => {
    const client = (await clientOf(queue)) as Partial<ConfigClient> | undefined;
    if (typeof client?.config !== 'function') return;
    let reply: unknown;
    try {
      reply = await client.config('GET', 'appendonly');
    } catch (error) {
      if ((error as Error).name === 'ReplyError') return; // refused
      throw error;
    }
    if (!Array.isArray(reply) || reply[1] !== 'no') return;
    logger.warn(
      { docs: docsUrl('queues.md#what-they-promise') },
      'call-webhooks: the Redis server of the queue has appendonly set to no. It loses acknowledged deliveries when it restarts. Set it to yes.',
    );
  });
