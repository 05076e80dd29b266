import type {
  Call,
  ChangesView,
  ChaosSettings,
  ClockView,
  CountsView,
  DeliveryPage,
  Mail,
  OutcomesView,
  PolicyView,
  Rule,
  StateView,
} from '@call-webhooks/simulator/control-api';
import { DeliveryWindow, isFiltered, keepSame, WINDOW, type Filter } from './delivery-window.ts';

import type { Section } from './sections.ts';

export type Connection = 'connecting' | 'live' | 'lost';

const NONE: CountsView = { calls: 0, deliveries: {}, mails: 0, messages: 0 };

/** The state of the page. Listeners are called at most once per frame. */
export class Store {
  readonly deliveries = new DeliveryWindow();
  connection: Connection = 'connecting';
  filter: Filter = {};
  selected: string | undefined;
  section: Section = 'deliveries';
  /** How often the whole state was fetched: after a restart, everything may have changed. */
  syncs = 0;
  seed = '';
  url = '';
  /** Absent until the state was fetched. */
  policy: PolicyView | undefined;
  clock: ClockView | undefined;
  /** What outcomes mean. Absent until they were fetched. */
  outcomes: OutcomesView | undefined;
  counts: CountsView = NONE;
  chaos: ChaosSettings | undefined;
  #rules = new Map<string, Rule>();
  #calls = new Map<string, Call>();
  #mails = new Map<string, Mail>();
  #clockReadAt = 0;
  #page: Omit<DeliveryPage, 'deliveries'> = { counts: {}, older: 0, newer: 0 };
  readonly #listeners: (() => void)[] = [];
  #drawing = false;

  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** In the order of creation. */
  rules(): Rule[] {
    return [...this.#rules.values()];
  }

  rule(id: string): Rule | undefined {
    return this.#rules.get(id);
  }

  /** Newest first. */
  calls(): Call[] {
    return [...this.#calls.values()].reverse();
  }

  call(id: string): Call | undefined {
    return this.#calls.get(id);
  }

  /** Newest first. */
  mails(): Mail[] {
    return [...this.#mails.values()].reverse();
  }

  /** The simulator's time. A real clock goes on between two messages. */
  now(): number {
    if (!this.clock) return Date.now();
    const since = this.clock.mode === 'real' ? performance.now() - this.#clockReadAt : 0;
    return this.clock.now + since;
  }

  replace(state: StateView): void {
    this.syncs++;
    const { seed, url, policy } = state;
    Object.assign(this, { seed, url, policy });
    this.#rules = keepSame(state.rules, this.#rules);
    this.#calls = keepSame(state.calls, this.#calls);
    this.#mails = keepSame(state.outbox, this.#mails);
    this.#readNumbers(state);
  }

  replaceDeliveries({ deliveries, ...page }: DeliveryPage): void {
    this.deliveries.replace(deliveries);
    this.#page = page;
    this.changed();
  }

  /** The number of deliveries in each state that match everything but the state. */
  countsOfFilter(): CountsView['deliveries'] {
    const { state: _, before: _before, after: _after, ...others } = this.filter;
    return isFiltered(others) ? this.#page.counts : this.counts.deliveries;
  }

  /** How many matching deliveries are older and newer than those of this page. */
  beyond(): { older: number; newer: number } {
    if (isFiltered(this.filter)) return this.#page;
    const all = Object.values(this.counts.deliveries).reduce((sum, count) => sum + count, 0);
    return { older: all - this.deliveries.list().length, newer: 0 };
  }

  apply(changes: ChangesView): void {
    this.#readNumbers(changes);
    if (changes.resync) return;
    for (const rule of changes.rules) this.#rules.set(rule._id, rule);
    for (const id of changes.removedRules) this.#rules.delete(id);
    for (const call of changes.calls) this.#calls.set(call._id, call);
    for (const mail of changes.outbox) this.#mails.set(mail._id, mail);
    for (const records of [this.#calls, this.#mails]) keepLatest(records);
    this.deliveries.put(changes.deliveries, this.filter);
  }

  setConnection(connection: Connection): void {
    this.connection = connection;
    this.changed();
  }

  setFilter(filter: Filter): void {
    this.filter = filter;
    this.changed();
  }

  /** Shows a section. */
  show(section: Section): void {
    this.section = section;
    this.changed();
  }

  select(id: string | undefined): void {
    this.selected = id;
    this.changed();
  }

  /** Calls the listeners in the next frame, once. */
  changed(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      for (const listener of this.#listeners) listener();
    });
  }

  #readNumbers({ clock, counts, chaos }: Pick<StateView, 'clock' | 'counts' | 'chaos'>): void {
    Object.assign(this, { clock, counts, chaos });
    this.#clockReadAt = performance.now();
    this.changed();
  }
}

function keepLatest(records: Map<string, unknown>): void {
  let extra = records.size - WINDOW;
  for (const id of records.keys()) {
    if (extra-- <= 0) return;
    records.delete(id);
  }
}
