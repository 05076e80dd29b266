import type { Logger } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { AskOnce } from './ask-once.ts';
import type { ScriptClient } from './clients.ts';
import { MEMORY } from './scripts.ts';

/**
 * Warns once if the server may drop leases and webhook ids to make room. An event would then run
 * twice at once, and replays would pass. A server that does not tell is not asked again.
 */
export function evictionWarning(client: ScriptClient, logger: Logger): AskOnce {
  return new AskOnce(async () => {
    const memory = await client.eval(MEMORY, [], []);
    const policy = /maxmemory_policy:([\w-]+)/.exec(String(memory))?.[1];
    if (policy === undefined || policy === 'noeviction') return;
    logger.warn(
      { policy, docs: docsUrl('stores.md#redis') },
      `call-webhooks: the Redis server's maxmemory-policy is ${policy}. When its memory is full, it drops leases and webhook ids, and events may run twice. Set it to noeviction.`,
    );
  });
}
