import { LRUCache } from 'lru-cache';
import { hash53 } from './hash53.ts';

/** A larger `Map` pauses the process for too long when it is rehashed, so ids are split over several. */
const MAX_ENTRIES_PER_CACHE = 2 ** 17;
/** All calls share it: an object for each would be garbage at once. */
const ONE = { size: 1 };

/**
 * Values by id, at most `maxEntries` of them. The value that was set longest ago is evicted first;
 * reading does not change that. Nothing expires by itself: the values say how long they are valid.
 */
export class IdCache<Value extends object> {
  readonly #caches: (LRUCache<string, Value> | undefined)[];
  readonly #maxPerCache: number;
  readonly #onEvicted: (value: Value) => void;

  /** @param onEvicted called with each value that has to make room; must not throw */
  constructor(maxEntries: number, onEvicted: (value: Value) => void) {
    const count = Math.ceil(maxEntries / MAX_ENTRIES_PER_CACHE);
    this.#caches = new Array<undefined>(count).fill(undefined);
    this.#maxPerCache = Math.floor(maxEntries / count);
    this.#onEvicted = onEvicted;
  }

  get(id: string): Value | undefined {
    return this.#cacheOf(id).peek(id);
  }

  set(id: string, value: Value): void {
    this.#cacheOf(id).set(flat(id), value, ONE);
  }

  #cacheOf(id: string): LRUCache<string, Value> {
    const { length } = this.#caches;
    const index = length === 1 ? 0 : hash53(id) % length;
    return (this.#caches[index] ??= this.#createCache());
  }

  #createCache(): LRUCache<string, Value> {
    return new LRUCache<string, Value>({
      maxSize: this.#maxPerCache, // unlike `max`, it allocates nothing ahead
      dispose: (value, _id, reason) => {
        if (reason === 'evict') this.#onEvicted(value);
      },
    });
  }
}

/**
 * A copy of a text in its own memory: `join` always copies. A text that was cut out of another one
 * keeps all of the other alive, so an id would hold on to a whole header or body.
 */
export const flat = (text: string): string => [text.slice(0, 1), text.slice(1)].join('');
