import { option, storableKey } from '@call-webhooks/core';

/** The prefix of all keys of a store. */
export const prefixOption = () =>
  option.default(
    option.text(/^[^{}\0\p{Surrogate}]{1,200}$/u, 'expected 1 to 200 characters without { and }'),
    'call-webhooks',
  );

/** Readable in `redis-cli`, and without braces, which a cluster would take for a hash tag. */
const READABLE = /^[\w:.-]{1,80}$/;

/** The names of what is kept for one event. By the part in braces, a cluster puts them into one slot. */
export interface EventKeys {
  readonly attempts: string;
  readonly lease: string;
  readonly done: string;
  readonly deadLettered: string;
}

/** Names the keys of a store under its prefix. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  async event(key: string): Promise<EventKeys> {
    const slot = await this.#slot(key);
    return {
      attempts: `${slot}:attempts`,
      lease: `${slot}:lease`,
      done: `${slot}:done`,
      deadLettered: `${slot}:dead-lettered`,
    };
  }

  /**
   * In the slot of its event, so that one script may read both. A replay has the same bytes, and so
   * the same event. A delivery without a key has a slot of its own.
   */
  async webhook(webhookId: string, key: string | undefined): Promise<string> {
    const slot = await this.#slot(key ?? webhookId);
    return key === undefined ? `${slot}:id` : `${slot}:id:${await storableKey(webhookId)}`;
  }

  /**
   * In a slot of its own. An event has the same keys with and without a group, so it stays known when
   * `oneAtATime` is turned on or off.
   */
  async group(group: string): Promise<string> {
    return `${await this.#slot(group)}:group`;
  }

  async cursor(name: string): Promise<string> {
    return `${await this.#slot(name)}:cursor`;
  }

  get ping(): string {
    return `${this.#prefix}:ping`;
  }

  async #slot(key: string): Promise<string> {
    return `${this.#prefix}:{${await storableKey(key, READABLE)}}`;
  }
}
