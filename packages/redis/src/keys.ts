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

/** Names the keys of a store under its prefix. A name is there at once, unless a hash is needed for it. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** What all keys of an event begin with. By the part in braces, a cluster puts them into one slot. */
  slot(key: string): string | Promise<string> {
    const text = storableKey(key, READABLE);
    return typeof text === 'string' ? this.#slotOf(text) : text.then((hash) => this.#slotOf(hash));
  }

  /**
   * In a slot of its own. An event has the same keys with and without a group, so it stays known when
   * `oneAtATime` is turned on or off.
   */
  async group(group: string): Promise<string> {
    return `${await this.slot(group)}:group`;
  }

  async cursor(name: string): Promise<string> {
    return `${await this.slot(name)}:cursor`;
  }

  get ping(): string {
    return `${this.#prefix}:ping`;
  }

  #slotOf(text: string): string {
    return `${this.#prefix}:{${text}}`;
  }
}

/** What is kept of an event, but for its webhook ids: see `event-script.ts`. */
export const eventKey = (slot: string): string => `${slot}:event`;

/** Goes on with a name: at once, unless it has to be hashed. */
export const withName = <Result>(
  name: string | Promise<string>,
  next: (name: string) => Promise<Result>,
): Promise<Result> => (typeof name === 'string' ? next(name) : name.then(next));
