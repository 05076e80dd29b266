import { LRUCache } from 'lru-cache';
import { hash53 } from './hash53.ts';

/** A larger `Map` pauses the process for too long when it is rehashed, so ids are split over several. */
const MAX_ENTRIES_PER_CACHE = 2 ** 17;

/**
 * Numbers by id, each for a limited time and at most `maxEntries` of them. The one that was set
 * longest ago is evicted first; reading an id does not change that.
 */
export class IdCache {
  readonly #caches: (LRUCache<string, number> | undefined)[];
  readonly #maxPerCache: number;
  readonly #now: () => number;
  readonly #onEvicted: (msLeft: number) => void;

  /**
   * @param now the clock, in milliseconds from 0 on
   * @param onEvicted called when an id is evicted before its time is over, with the milliseconds that
   *   were left; must not throw
   */
  constructor(maxEntries: number, now: () => number, onEvicted: (msLeft: number) => void) {
    const count = Math.ceil(maxEntries / MAX_ENTRIES_PER_CACHE);
    this.#caches = new Array<undefined>(count).fill(undefined);
    this.#maxPerCache = Math.floor(maxEntries / count);
    this.#now = now;
    this.#onEvicted = onEvicted;
  }

  get(id: string): number | undefined {
    return this.#cacheOf(id).peek(id);
  }

  /** @param ttl milliseconds, above 0; at exactly that age the id is still found */
  set(id: string, value: number, ttl: number): void {
    this.#cacheOf(id).set(flat(id), value, { ttl, size: 1 });
  }

  #cacheOf(id: string): LRUCache<string, number> {
    const { length } = this.#caches;
    const index = length === 1 ? 0 : hash53(id) % length;
    return (this.#caches[index] ??= this.#createCache());
  }

  #createCache(): LRUCache<string, number> {
    const cache = new LRUCache<string, number>({
      maxSize: this.#maxPerCache, // unlike `max`, it allocates nothing ahead
      ttlResolution: 0, // or lru-cache sets timers, and goes by a time that it read earlier
      perf: { now: () => this.#now() + 1 }, // it takes 0 for "no time set"
      dispose: (_value, id, reason) => {
        if (reason !== 'evict') return;
        const msLeft = cache.getRemainingTTL(id);
        if (msLeft >= 0) this.#onEvicted(msLeft);
      },
    });
    return cache;
  }
}

/**
 * A copy of a text in its own memory: `join` always copies. A text that was cut out of another one
 * keeps all of the other alive, so an id would hold on to a whole header or body.
 */
export const flat = (text: string): string => [text.slice(0, 1), text.slice(1)].join('');
