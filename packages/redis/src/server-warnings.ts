import type { Logger } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';

/** How a server may lose what it has to keep, and what to do about it. */
interface Problem {
  fields?: object;
  message: string;
  docs: string;
}

/**
 * Asks a server once how it keeps things, and logs a warning if it may lose some. If there was no answer,
 * the next call asks again.
 * @param find rejects if there was no answer
 */
function warning(logger: Logger, find: () => Promise<Problem | undefined>): () => void {
  let isAsked = false;
  const ask = async () => {
    try {
      const problem = await find();
      if (!problem) return;
      const { fields, message, docs } = problem;
      logger.warn({ ...fields, docs: docsUrl(docs) }, `call-webhooks: ${message}`);
    } catch {
      isAsked = false;
    }
  };
  return () => {
    if (isAsked) return;
    isAsked = true;
    void ask();
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
  warning(logger, async () => {
    const policy = /maxmemory_policy:([\w-]+)/.exec(await ask(INFO))?.[1];
    if (policy === undefined || policy === 'noeviction') return undefined;
    const message = `the Redis server's maxmemory-policy is ${policy}. When its memory is full, it drops leases and webhook ids, and events may run twice. Set it to noeviction.`;
    return { fields: { policy }, message, docs: 'stores.md#redis' };
  });

/** The server may lose dead letters: their deliveries were acknowledged. */
export const deadLetterWarning = (ask: Asked, logger: Logger): (() => void) =>
  warning(logger, async () => {
    const info = await ask(INFO);
    const problems = [
      ...(info.includes('maxmemory_policy:allkeys')
        ? ['drops any keys when its memory is full']
        : []),
      ...(info.includes('aof_enabled:0') ? ['has appendonly no and forgets at a restart'] : []),
    ];
    if (problems.length === 0) return undefined;
    const message = `the Redis server of the dead letters ${problems.join(', and ')}. Dead letters could be lost.`;
    return { message, docs: 'stores.md#redis' };
  });

/** Where BullMQ's `Queue` has its client: `client` in version 5, the backend's in version 6. */
export interface HasRedisClient {
  readonly client?: unknown;
  getBackend?(): unknown;
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
  warning(logger, async () => {
    const backend = queue.getBackend?.() as { client?: unknown } | undefined;
    const client = (await (queue.client ?? backend?.client)) as Partial<ConfigClient> | undefined;
    if (typeof client?.config !== 'function') return undefined;
    let reply: unknown;
    try {
      reply = await client.config('GET', 'appendonly');
    } catch (error) {
      if ((error as Error).name === 'ReplyError') return undefined; // refused
      throw error;
    }
    if (!Array.isArray(reply) || reply[1] !== 'no') return undefined;
    const message =
      'the Redis server of the queue has appendonly no. It loses acknowledged deliveries when it restarts. Set it to yes.';
    return { message, docs: 'queues.md#what-they-promise' };
  });
