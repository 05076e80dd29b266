import type { Logger } from '@call-webhooks/core';
import type { ScriptClient } from './clients.ts';
import { MEMORY } from './scripts.ts';

/**
 * Warns once when the server may throw leases and webhook ids away to make room: an event would then
 * run twice at once, and replays would pass. Asks again with the next call while it gets no answer.
 */
export class EvictionWarning {
  readonly #client: ScriptClient;
  readonly #logger: Logger;
  #state: 'to ask' | 'asking' | 'asked' = 'to ask';

  constructor(client: ScriptClient, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  check(): void {
    if (this.#state !== 'to ask') return;
    this.#state = 'asking';
    this.#ask().then(
      () => (this.#state = 'asked'),
      () => (this.#state = 'to ask'),
    );
  }

  async #ask(): Promise<void> {
    const memory = await this.#client.eval(MEMORY, [], []);
    const policy = /maxmemory_policy:([\w-]+)/.exec(String(memory))?.[1];
    if (policy === undefined || policy === 'noeviction') return;
    this.#logger.warn(
      `call-webhooks: the Redis server's maxmemory-policy is ${policy}: when its memory is full it drops leases and webhook ids without a word, so events may run twice. Set it to noeviction. See docs/stores.md#redis`,
    );
  }
}
