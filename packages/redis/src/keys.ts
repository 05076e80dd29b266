import { digest } from './digest.ts';

/** Plain enough to be read in `redis-cli`, and nothing that a cluster would take for a hash tag. */
const PLAIN = /^[\w:.-]{1,80}$/;

/** The names of what is kept for one event; a cluster puts them into one slot, by what is in braces. */
export interface EventKeys {
  readonly attempts: string;
  readonly lease: string;
  readonly done: string;
}

/** Names the keys of the store under a prefix. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  async event(key: string): Promise<EventKeys> {
    const slot = this.#slot(await tagOf(key));
    return { attempts: `${slot}:attempts`, lease: `${slot}:lease`, done: `${slot}:done` };
  }

  /**
   * In the slot of its event, so that one script may look at both. A replay has the same bytes, so
   * it has the same event; a delivery without a key has a slot of its own.
   */
  async webhook(webhookId: string, key: string | undefined): Promise<string> {
    const slot = this.#slot(await tagOf(key ?? webhookId));
    return key === undefined ? `${slot}:id` : `${slot}:id:${webhookId}`;
  }

  get ping(): string {
    return `${this.#prefix}:ping`;
  }

  #slot(tag: string): string {
    return `${this.#prefix}:{${tag}}`;
  }
}

/** A key as it is, or its digest where it is long or odd (`#` is in no plain one). */
async function tagOf(key: string): Promise<string> {
  if (PLAIN.test(key)) return key;
  return `#${await digest('SHA-256', key)}`;
}
