import type { ChangesView } from '@call-webhooks/simulator/control-api';
import { isFiltered } from './delivery-window.ts';
import type { Store } from './store.ts';
import { fetchDeliveries, fetchOutcomes, fetchState } from './api.ts';

/** Milliseconds between two reads of the state, and until a lost stream is reopened. */
const BETWEEN_SYNCS = 300;
const REOPEN_AFTER = 1_000;

/** Keeps the store up to date through the stream, across lost connections and restarts. */
export class Live {
  readonly #store: Store;
  #syncing = false;
  #again = false;
  /** Whether the next fetch includes more than the deliveries. */
  #whole = true;

  constructor(store: Store) {
    this.#store = store;
  }

  open(): void {
    const stream = new EventSource('/_sim/stream');
    stream.addEventListener('open', () => void this.sync());
    stream.addEventListener('changes', ({ data }: MessageEvent<string>) => {
      const changes = JSON.parse(data) as ChangesView;
      this.#store.apply(changes);
      if (changes.resync) void this.sync();
      else if (isFiltered(this.#store.filter)) void this.sync('deliveries');
    });
    stream.addEventListener('error', () => {
      this.#store.setConnection('lost');
      if (stream.readyState !== EventSource.CLOSED) return; // it reconnects by itself
      setTimeout(() => {
        this.open();
      }, REOPEN_AFTER);
    });
  }

  /** Fetches the state; a call in the meantime fetches it once more afterwards. */
  async sync(what: 'all' | 'deliveries' = 'all'): Promise<void> {
    this.#whole ||= what === 'all';
    this.#again = this.#syncing;
    if (this.#syncing) return;
    this.#syncing = true;
    let wait = BETWEEN_SYNCS;
    try {
      await this.#fetch();
    } catch {
      this.#store.setConnection('lost');
      this.#again = this.#whole = true;
      wait = REOPEN_AFTER;
    }
    setTimeout(() => {
      this.#syncing = false;
      if (this.#again) void this.sync('deliveries');
    }, wait);
  }

  async #fetch(): Promise<void> {
    const { filter } = this.#store;
    const whole = this.#whole;
    this.#whole = false;
    const [state, page] = await Promise.all([
      whole ? fetchState() : undefined,
      fetchDeliveries(filter),
    ]);
    this.#store.outcomes ??= await fetchOutcomes();
    if (state) this.#store.replace(state);
    if (this.#store.filter === filter) this.#store.replaceDeliveries(page);
    else this.#again = true;
    this.#store.setConnection('live');
  }
}
