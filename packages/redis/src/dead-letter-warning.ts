import type { Logger } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { AskOnce } from './ask-once.ts';
import type { ScriptClient } from './clients.ts';
import { INFO } from './dead-letter-scripts.ts';

/**
 * Warns once if the server may lose dead letters: their deliveries were acknowledged. A server that
 * does not tell is not asked again.
 */
export function deadLetterWarning(client: ScriptClient, logger: Logger): AskOnce {
  return new AskOnce(async () => {
    const info = String(await client.eval(INFO, [], []));
    const problems = [
      /maxmemory_policy:allkeys/.test(info) && 'drops any keys when its memory is full',
      /aof_enabled:0/.test(info) && 'has appendonly no and forgets at a restart',
    ].filter((problem) => problem !== false);
    if (problems.length === 0) return;
    logger.warn(
      { docs: docsUrl('stores.md#redis') },
      `call-webhooks: the Redis server of the dead letters ${problems.join(', and ')}. Dead letters could be lost.`,
    );
  });
}
