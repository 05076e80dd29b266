import { LRUCache } from 'lru-cache';

export interface RememberedOptions {
  /** At most so many ids are kept, over all shards. */
  readonly maxEntries: number;
  /** How long an id is kept that is set without a time of its own; milliseconds. */
  readonly ttl: number;
  readonly now: () => number;
  /** Told when an id is forgotten before its time. */
  readonly onEvicted: () => void;
}

/**
 * A `Map` that is full is copied as a whole when it has turned over, and a million entries take some
 * 100 ms, in which nothing is answered. So a large memory is made of several of this size at most.
 */
const SHARD_ENTRIES = 100_000;

/** Ids, each with a value and an end, in bounded memory: the least recently set go first. */
export class Remembered<Value extends string | number> {
  readonly #shards: readonly LRUCache<string, Value>[];

  constructor({ maxEntries, ttl, now, onEvicted }: RememberedOptions) {
    const count = Math.ceil(maxEntries / SHARD_ENTRIES) || 1;
    this.#shards = Array.from({ length: count }, () => {
      const shard: LRUCache<string, Value> = new LRUCache<string, Value>({
        max: count === 1 ? maxEntries : Math.floor(maxEntries / count),
        ttl,
        perf: { now: () => Math.max(1, now()) }, // to lru-cache a start of 0 is none
        ttlResolution: 0,
        dispose: (_value, id, reason) => {
          if (reason === 'evict' && shard.getRemainingTTL(id) > 0) onEvicted();
        },
      });
      return shard;
    });
  }

  /** The value, if its time is not over. */
  get(id: string): Value | undefined {
    return this.#shardOf(id).peek(id);
  }

  /** @param ttl milliseconds */
  set(id: string, value: Value, ttl?: number): void {
    this.#shardOf(id).set(id, value, ttl === undefined ? undefined : { ttl });
  }

  #shardOf(id: string): LRUCache<string, Value> {
    const { length } = this.#shards;
    return this.#shards[length === 1 ? 0 : spread(id) % length] as LRUCache<string, Value>;
  }
}

/** FNV-1a: any even spread will do. */
function spread(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
