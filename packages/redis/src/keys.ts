import { storableKey } from '@call-webhooks/core/stores';
import { option } from '@call-webhooks/core/internal';

/** The prefix of all keys of a store. */
export const prefixOption = () =>
  option.default(
    option.text(/^[^{}\0\p{Surrogate}]{1,200}$/u, 'expected 1 to 200 characters without { and }'),
    'call-webhooks',
  );

/** Readable in `redis-cli`, and without braces, which a cluster would take for a hash tag. */
const READABLE = /^[\w:.-]{1,80}$/;

/** Names the keys of a store under its prefix. By the part in braces, a cluster chooses their slot. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Independent of the event: a webhook id is refused whatever else its delivery says. */
  id(webhookId: string): Promise<string> {
    return this.#named(webhookId, 'id');
  }

  /**
   * The same with and without a group, so an event stays known when `oneAtATime` is turned on or off.
   */
  event(key: string): Promise<string> {
    return this.#named(key, 'event');
  }

  group(group: string): Promise<string> {
    return this.#named(group, 'group');
  }

  cursor(name: string): Promise<string> {
    return this.#named(name, 'cursor');
  }

  get ping(): string {
    return `${this.#prefix}:ping`;
  }

  async #named(text: string, kind: string): Promise<string> {
    return `${this.#prefix}:{${await storableKey(text, READABLE)}}:${kind}`;
  }
}
