import type { Logger } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { AskOnce } from './ask-once.ts';

/** Where BullMQ's `Queue` has its client: `client` in version 5, the backend's in version 6. */
export interface HasRedisClient {
  readonly client?: unknown;
  getBackend?(): unknown;
}

/**
 * Warns once if the server of a queue keeps no append-only file: it would lose acknowledged
 * deliveries when it restarts. Managed servers refuse the question, and have their own ways.
 */
export function persistenceWarning(queue: HasRedisClient, logger: Logger): AskOnce {
  return new AskOnce(async () => {
    const backend = queue.getBackend?.() as { client?: unknown } | undefined;
    const client = (await (queue.client ?? backend?.client)) as Partial<ConfigClient> | undefined;
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
      'call-webhooks: the Redis server of the queue has appendonly no. It loses acknowledged deliveries when it restarts. Set it to yes.',
    );
  });
}

/** ioredis. */
interface ConfigClient {
  config(subcommand: 'GET', name: string): Promise<unknown>;
}
