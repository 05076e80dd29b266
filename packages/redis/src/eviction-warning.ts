import type { Logger } from '@call-webhooks/core';
import { AskOnce } from './ask-once.ts';
import type { ScriptClient } from './clients.ts';
import { MEMORY } from './scripts.ts';

/**
 * Warns once when the server may throw leases and webhook ids away to make room: an event would then
 * run twice at once, and replays would pass.
 */
export function evictionWarning(client: ScriptClient, logger: Logger): AskOnce {
  return new AskOnce(async () => {
    const memory = await client.eval(MEMORY, [], []);
    const policy = /maxmemory_policy:([\w-]+)/.exec(String(memory))?.[1];
    if (policy === undefined || policy === 'noeviction') return;
    logger.warn(
      `call-webhooks: the Redis server's maxmemory-policy is ${policy}: when its memory is full it drops leases and webhook ids without a word, so events may run twice. Set it to noeviction. See docs/stores.md#redis`,
    );
  });
}
