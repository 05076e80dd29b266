import { WebhookError } from '../../outcome/webhook-error.ts';
import { hashOf } from './hash.ts';
import { MOST_ENTRIES, Shard } from './shard.ts';

/** Ids, each with a number and an end, in bounded memory: the oldest go first. */
export class Remembered {
  readonly #shards: (Shard | undefined)[];
  readonly #entriesEach: number;
  readonly #onEvicted: () => void;

  /**
   * @param maxEntries at most so many ids are kept
   * @param onEvicted told when an id is forgotten before its time; must not throw
   * @throws WebhookError `invalid-options`
   */
  constructor(maxEntries: number, onEvicted: () => void) {
    if (!Number.isInteger(maxEntries) || maxEntries < 1 || maxEntries > 1e9)
      throw new WebhookError(
        'invalid-options',
        'maxEntries is a whole number from 1 to 1,000,000,000.',
      );
    // A number of shards, as each grows by being copied: nobody has to wait for a whole large memory.
    const count = Math.ceil(maxEntries / MOST_ENTRIES);
    this.#shards = new Array<Shard | undefined>(count).fill(undefined);
    this.#entriesEach = Math.floor(maxEntries / count);
    this.#onEvicted = onEvicted;
  }

  /**
   * The id's number, if its time is not over.
   * @param now milliseconds
   */
  get(id: string, now: number): number | undefined {
    const hash = hashOf(id);
    return this.#shardOf(hash).get(id, hash, now);
  }

  /** @param until milliseconds: the last moment at which it is found */
  set(id: string, value: number, until: number, now: number): void {
    const hash = hashOf(id);
    this.#shardOf(hash).set(id, hash, value, until, now);
  }

  /** By the upper bits: a shard's own table goes by the lower ones, and would stay half empty. */
  #shardOf(hash: number): Shard {
    const index = Math.floor((hash / 2 ** 32) * this.#shards.length);
    return (this.#shards[index] ??= new Shard(this.#entriesEach, this.#onEvicted));
  }
}
