import { changeUrl, notify, notifyError, onUrlChange, readUrl } from '@call-webhooks/ui';
import type {
  Call,
  WebhookEvent,
  WebhookEventSummary,
  WebhookEventView,
  OutcomesView,
  Rule,
  StateView,
} from '@call-webhooks/simulator/control-api';
import { callApi, eachFilter, queryOf, type Filter } from './api.ts';
import { shortUrl } from './labels.ts';

/** The sections of the page. `events` is a tab only on narrow pages. */
export const SECTIONS = ['events', 'rules', 'calls', 'outbox', 'chaos'] as const;
export type Section = (typeof SECTIONS)[number];

/** How many events are shown at first, and how many more each time. */
export const STEP = 200;

/** Milliseconds between two reads of the state, and until the next try after a failed one. */
const BETWEEN_READS = 300;
const TRY_AGAIN_AFTER = 1_000;

const NARROW = matchMedia('(max-width: 899px)');

/**
 * What the page shows. It reads the state again whenever something changed, across lost connections
 * and restarts. The filters and the selection are in the address, so that a reload and Back work.
 */
class Store {
  connection: 'live' | 'lost' = 'live';
  /** How many events are shown at most. */
  limit = STEP;
  /** How often the state was read. */
  reads = 0;
  /** What outcomes mean. */
  outcomes: OutcomesView = {};
  #section: Section = 'events';
  #state: StateView | undefined;
  #readAt = 0;
  #reading = false;
  #again = false;
  #listener: () => void = () => undefined;
  #drawing = false;

  /** Starts to read. @param listener called after changes, at most once per frame */
  start(listener: () => void): void {
    this.#listener = listener;
    NARROW.addEventListener('change', listener);
    onUrlChange(() => {
      this.#changed();
      void this.#read();
    });
    this.#listen();
  }

  /** Whether the state was read. Nothing is drawn before. */
  get isReady(): boolean {
    return this.#state !== undefined;
  }

  /** The state of the simulator. */
  get state(): StateView {
    if (!this.#state) throw new Error('The state was not read yet.');
    return this.#state;
  }

  get filter(): Filter {
    const query = readUrl();
    return eachFilter((name) => query.get(name) ?? undefined);
  }

  get isFiltered(): boolean {
    return Object.values(this.filter).some((value) => value !== undefined);
  }

  /** The events that match, newest first. */
  get events(): readonly WebhookEventSummary[] {
    return this.state.events;
  }

  /** How many events match besides those that are shown. */
  get older(): number {
    const { events, matching } = this.state;
    const { state } = this.filter;
    const inAll = Object.entries(matching).filter(
      ([name]) => state === undefined || name === state,
    );
    return inAll.reduce((sum, [, count]) => sum + count, 0) - events.length;
  }

  /** The id of the event whose details are shown. */
  get selected(): string | undefined {
    return readUrl().get('event') ?? undefined;
  }

  /** The section that a page of this width shows. A wide page always shows the events. */
  get section(): Section {
    return !NARROW.matches && this.#section === 'events' ? 'rules' : this.#section;
  }

  rule(id: string): Rule | undefined {
    return this.state.rules.find(({ _id }) => _id === id);
  }

  call(id: string): Call | undefined {
    return this.state.calls.find(({ _id }) => _id === id);
  }

  /** The simulator's time, in milliseconds since the epoch. A real clock goes on between two reads. */
  now(): number {
    const { mode, now } = this.state.clock;
    return now + (mode === 'real' ? performance.now() - this.#readAt : 0);
  }

  setFilter(filter: Filter): void {
    const before = readUrl().get('q') ?? undefined;
    this.limit = STEP;
    // Back leaves a search as a whole, not letter by letter.
    const typing = before !== undefined && filter.q !== undefined && filter.q !== before;
    changeUrl({ ...eachFilter(() => undefined), ...filter }, typing ? 'replace' : 'push');
  }

  select(id: string | undefined, how?: 'replace'): void {
    changeUrl({ event: id }, how);
  }

  show(section: Section): void {
    this.#section = section;
    this.#changed();
  }

  showMore(): void {
    this.limit += STEP;
    void this.#read();
  }

  #listen(): void {
    const stream = new EventSource('/_sim/stream');
    stream.addEventListener('open', () => void this.#read());
    stream.addEventListener('changes', () => void this.#read());
    stream.addEventListener('error', () => {
      this.#setConnection('lost');
      // Otherwise it reconnects by itself.
      if (stream.readyState === EventSource.CLOSED)
        setTimeout(() => this.#listen(), TRY_AGAIN_AFTER);
    });
  }

  /** Reads the state. What changes in the meantime leads to one more read afterwards. */
  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    while (this.#again) {
      this.#again = false;
      const done = await this.#readOnce().then(
        () => true,
        () => false,
      );
      if (!done) this.#again = true;
      this.#setConnection(done ? 'live' : 'lost');
      await new Promise((resolve) => setTimeout(resolve, done ? BETWEEN_READS : TRY_AGAIN_AFTER));
    }
    this.#reading = false;
  }

  async #readOnce(): Promise<void> {
    const query = queryOf({ ...this.filter, limit: this.limit });
    const state = await callApi<StateView>('GET', `/state?${query}`);
    if (this.reads === 0) this.outcomes = await callApi('GET', '/outcomes');
    this.reads++;
    this.#readAt = performance.now();
    const events = keepSame([...state.events].reverse(), this.#state?.events ?? []);
    this.#state = { ...state, events };
  }

  #setConnection(connection: Store['connection']): void {
    this.connection = connection;
    this.#changed();
  }

  #changed(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#listener();
    });
  }
}

/** Equal rows stay the same objects, so that they are not rendered again. */
function keepSame(
  rows: readonly WebhookEventSummary[],
  before: readonly WebhookEventSummary[],
): WebhookEventSummary[] {
  const known = new Map(before.map((row) => [row._id, row]));
  return rows.map((row) => {
    const old = known.get(row._id);
    return old && JSON.stringify(old) === JSON.stringify(row) ? old : row;
  });
}

/** Every component reads it; the root renders again when it changes. */
export const store = new Store();

export const now = (): number => store.now();

/** Shows the events that match. */
export function filterBy(filter: Filter): void {
  store.setFilter(filter);
  store.show('events');
}

/** Selects an event and moves the focus to its row; `undefined` closes the details. */
export function choose(id: string | undefined): void {
  const before = store.selected;
  store.select(id);
  const row = document.querySelector<HTMLElement>(`.event-row[data-id="${id ?? before ?? ''}"]`);
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
}

/** Closes the details of an event that the simulator does not have, and takes it out of the address. */
export function closeGone(): void {
  store.select(undefined, 'replace'); // Back would only lead here again
  notifyError('This event no longer exists.');
}

/** The event before or after the selected one; the newest when none is selected. */
export function neighbour(step: 1 | -1): string | undefined {
  const { events, selected } = store;
  const at = events.findIndex(({ _id }) => _id === selected);
  return events[at < 0 ? 0 : at + step]?._id;
}

/**
 * Sends an event again, as a copy, and shows the copy.
 * @param body another body, as JSON text
 * @throws ApiError
 */
export async function resend(id: string, body?: string): Promise<void> {
  const edited = body === undefined ? undefined : { body };
  const { _id, number } = await callApi<WebhookEvent>('POST', `/events/${id}/resend`, edited);
  const { url } = await callApi<WebhookEventView>('GET', `/events/${_id}`);
  notify(`Sent again as #${String(number)}${url === undefined ? '' : ` to ${shortUrl(url)}`}.`);
  store.select(_id);
}

/** Sends all events again that failed and match the filters. @throws ApiError */
export async function resendFailed(): Promise<void> {
  const path = `/events/resend-failed?${queryOf(store.filter)}`;
  const { resent } = await callApi<{ resent: number }>('POST', path);
  notify(resent === 1 ? '1 event sent again.' : `${String(resent)} events sent again.`);
}

/** Who was called, for an event or for a call that is filtered by. */
export function callName(callId: string, named?: string): string {
  if (callId === '') return 'no call';
  const call = store.call(callId);
  const known = () => store.events.find((one) => one.callId === callId)?.callName;
  return named ?? call?.calledName ?? call?.calledNumber ?? known() ?? `unknown (${callId})`;
}
