import type { OutcomeCode } from '../outcome-table.ts';
import type { Outcome } from '../outcomes.ts';
import { redactEventName, redactName } from '../report/redact.ts';
import { printable } from '../report/visible.ts';
import {
  COUNTER_SERIES,
  type Counters,
  type CounterSeries,
  durationBucket,
  escapedPart,
  type OutcomeBatch,
  SERIES_NAMES,
} from './outcome-log.ts';

/** How many event names, and how many tenants, a process counts by name. */
const MAX_NAMED = 100;
/** Tenants may have any number of secrets. */
const MAX_SECRETS = 1_000;
const MAX_SECRET_ID = 200;
/** Of one period. Beyond, what can be is counted without a name. */
const MAX_COUNTERS = 1_000;
/** Of all periods of a series, while the log is down. */
const MAX_WAITING = 20_000;
/** So that no batch blocks a store, after an outage either. */
const MAX_COUNTERS_A_BATCH = 2_000;
const MAX_PERIODS_A_BATCH = 60;
const MAX_MARKS_A_BATCH = 1_000;
/** Of what was joined, so much is remembered. */
const MAX_JOINED = 5_000;
/** What has no name of its own. */
const OTHER = '*';

/** Of these, the service learned for the first time that the event had arrived. */
const FIRST_ACKNOWLEDGED: ReadonlySet<OutcomeCode> = new Set<OutcomeCode>([
  'handled',
  'queued',
  'dead-lettered',
  'ignored',
]);
/** What the receiver could not verify. */
const REJECTED: ReadonlySet<OutcomeCode> = new Set<OutcomeCode>([
  'signature-mismatch',
  'timestamp-out-of-tolerance',
  'body-already-parsed',
  'secret-unavailable',
]);
/** These say nothing of the service: nobody retries a replay, and the others came before the event was known. */
const UNMARKED: ReadonlySet<OutcomeCode> = new Set<OutcomeCode>([
  'replayed',
  'overloaded',
  'shutting-down',
]);

/** What outcomes add to the counters and marks of the log, until it is written. Its memory is bounded. */
export class OutcomeTally {
  readonly #series = { minutes: new Periods('minutes'), times: new Periods('times') };
  readonly #arrivals = new Periods('arrivals');
  #marks = new Map<string, { at: number }>();
  readonly #events = new ShownNames(MAX_NAMED, redactEventName);
  readonly #tenants = new ShownNames(MAX_NAMED, redactName);
  /** Those that nobody has verified give way to those that somebody has. */
  readonly #unverifiedTenants = new ShownNames(MAX_NAMED, redactName);
  readonly #secrets = new Map<string, string>();
  readonly #joined = new JoinedTexts();

  /** @param at milliseconds since the epoch */
  add(ended: Outcome, at: number): void {
    const { source, outcome, late, handlerMs, lagMs, storeMs, secretId, webhookId } = ended;
    const { minutes, times } = this.#series;
    const event = this.#events.of(ended.eventName);
    this.#count(minutes, at, this.#join(late ? 'late' : 'outcome', source, outcome), event);
    if (handlerMs !== undefined) times.add(at, this.#join('handlerMs', event, bucketOf(handlerMs)));
    if (source === 'queue') this.#mark('queue', at);
    if (late) {
      // The retry of the service will be a duplicate.
      if (source === 'webhook') this.#arrived(ended, event, at);
      return;
    }
    if (lagMs !== undefined) times.add(at, this.#join('lagMs', bucketOf(lagMs)));
    if (storeMs !== undefined) times.add(at, this.#join('storeMs', bucketOf(storeMs)));
    if (secretId !== undefined) minutes.add(at, this.#join('secret', this.#secret(secretId)));
    if (source !== 'webhook') return;
    if (webhookId !== undefined) this.#addVerified(ended, event, at);
    else if (REJECTED.has(outcome))
      this.#count(minutes, at, this.#join('rejected', outcome), this.#tenant(ended));
  }

  #addVerified(ended: Outcome, event: string, at: number): void {
    const { durationMs, eventName, key, outcome, status, secretId } = ended;
    this.#series.times.add(at, this.#join('deliveryMs', event, bucketOf(durationMs)));
    if ((eventName === undefined && key === undefined) || UNMARKED.has(outcome)) return;
    const tenant = this.#tenant(ended);
    const secret = secretId === undefined || tenant === OTHER ? '' : this.#secret(secretId);
    this.#mark(this.#join(status < 300 ? 'ack' : 'failed', tenant, event, secret), at);
    this.#arrived(ended, event, at);
  }

  #arrived(ended: Outcome, event: string, at: number): void {
    if (ended.eventName === undefined || !FIRST_ACKNOWLEDGED.has(ended.outcome)) return;
    this.#count(this.#arrivals, at, event, this.#tenant(ended));
  }

  #count(to: Periods, at: number, what: string, name: string): void {
    const counted = this.#join(what, name);
    if (!to.add(at, counted)) to.add(at, this.#join(what, OTHER), true);
  }

  #join(first: string, ...others: readonly string[]): string {
    let joined = first;
    for (const other of others) joined = this.#joined.of(joined, other);
    return joined;
  }

  /** Counts rows that were left out. */
  addDropped(rows: number, at: number): void {
    if (rows > 0) this.#series.minutes.add(at, 'rowsDropped', true, rows);
  }

  #mark(name: string, at: number): void {
    const mark = this.#marks.get(name);
    if (mark) mark.at = Math.max(mark.at, at);
    else if (this.#marks.size < MAX_MARKS_A_BATCH) this.#marks.set(name, { at });
  }

  #tenant({ tenant, webhookId }: Outcome): string {
    if (webhookId !== undefined) return this.#tenants.of(tenant);
    const verified = this.#tenants.known(tenant);
    if (verified !== undefined) return verified;
    return this.#unverifiedTenants.of(tenant, MAX_NAMED - this.#tenants.size);
  }

  #secret(id: string): string {
    let shown = this.#secrets.get(id);
    if (shown === undefined) {
      if (this.#secrets.size >= MAX_SECRETS) this.#secrets.clear();
      shown = escapedPart(printable(id.slice(0, MAX_SECRET_ID)));
      this.#secrets.set(id, shown);
    }
    return shown;
  }

  get isEmpty(): boolean {
    const { minutes, times } = this.#series;
    return minutes.isEmpty && times.isEmpty && this.#arrivals.isEmpty && this.#marks.size === 0;
  }

  /** What goes into the next batch. After an outage, there is more for those after it. */
  take(): Pick<OutcomeBatch, 'counts' | 'marks'> {
    const counts: Partial<Record<CounterSeries, Counters>> = {};
    const all = { ...this.#series, arrivals: this.#arrivals };
    let room = MAX_COUNTERS_A_BATCH;
    for (const series of SERIES_NAMES) {
      const taken = all[series].take(room);
      room -= taken.size;
      if (taken.size > 0) counts[series] = taken.counters;
    }
    const marks = Object.fromEntries([...this.#marks].map(([name, { at }]) => [name, at]));
    this.#marks = new Map();
    return { counts, marks };
  }
}

const BUCKETS = Array.from({ length: durationBucket(Infinity) + 1 }, (_, bucket) => String(bucket));
const bucketOf = (ms: number) => BUCKETS[durationBucket(ms)] as string;

/**
 * Joins texts by slashes, and remembers what it has joined: to make the names of a delivery anew would take half
 * of the time that counting it takes.
 */
class JoinedTexts {
  readonly #known = new Map<string, Map<string, string>>();
  #size = 0;

  of(one: string, other: string): string {
    let ofOne = this.#known.get(one);
    const known = ofOne?.get(other);
    if (known !== undefined) return known;
    if (this.#size >= MAX_JOINED) this.#forget();
    ofOne = this.#known.get(one) ?? new Map<string, string>();
    this.#known.set(one, ofOne);
    const joined = `${one}/${other}`;
    ofOne.set(other, joined);
    this.#size += 1;
    return joined;
  }

  #forget(): void {
    this.#known.clear();
    this.#size = 0;
  }
}

/** Texts as counters have them: redacted, escaped, and so many different ones at most. */
class ShownNames {
  readonly #names = new Map<string, string>();
  readonly #limit: number;
  readonly #redacted: (name: string) => string;

  constructor(limit: number, redacted: (name: string) => string) {
    this.#limit = limit;
    this.#redacted = redacted;
  }

  get size(): number {
    return this.#names.size;
  }

  /** The name, if it is one of those that are shown. */
  known(name: string | undefined): string | undefined {
    return name === undefined ? '' : this.#names.get(name);
  }

  of(name: string | undefined, limit = this.#limit): string {
    if (name === undefined) return '';
    if (this.#names.size > limit) this.#forgetOldest(limit);
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const redacted = this.#redacted(name);
    const shown = escapedPart(printable(redacted));
    // All that is redacted as a whole is the same name.
    if (this.#names.get(redacted) === shown) return shown;
    if (this.#names.size >= limit) return OTHER;
    this.#names.set(redacted, shown);
    return shown;
  }

  #forgetOldest(limit: number): void {
    for (const oldest of this.#names.keys()) {
      if (this.#names.size <= limit) return;
      this.#names.delete(oldest);
    }
  }
}

/** The counters of one series that wait to be written. */
class Periods {
  readonly #periodMs: number;
  readonly #most: number;
  readonly #periods = new Map<number, Map<string, { count: number }>>();
  #waiting = 0;

  constructor(series: CounterSeries) {
    const { periodMs, keptMs } = COUNTER_SERIES[series];
    this.#periodMs = periodMs;
    this.#most = keptMs / periodMs;
  }

  get isEmpty(): boolean {
    return this.#periods.size === 0;
  }

  /**
   * @param always also if the period has too many counters
   * @returns whether there was room for it
   */
  add(at: number, name: string, always = false, by = 1): boolean {
    const period = Math.floor(at / this.#periodMs);
    let counters = this.#periods.get(period);
    if (!counters) {
      this.#periods.set(period, (counters = new Map<string, { count: number }>()));
      if (this.#periods.size > this.#most || this.#waiting > MAX_WAITING) this.#dropOldest();
    }
    const known = counters.get(name);
    if (known) known.count += by;
    else if (counters.size >= MAX_COUNTERS && !always) return false;
    else {
      counters.set(name, { count: by });
      this.#waiting += 1;
    }
    return true;
  }

  #dropOldest(): void {
    for (const [period, counters] of this.#periods) {
      this.#periods.delete(period);
      this.#waiting -= counters.size;
      if (this.#periods.size <= this.#most && this.#waiting <= MAX_WAITING) break;
    }
  }

  /** Takes whole periods, the oldest first: at least one, even if it has more counters. */
  take(room: number): { counters: Counters; size: number } {
    const counters: Record<number, Record<string, number>> = {};
    let size = 0;
    let periods = 0;
    for (const [period, found] of this.#periods) {
      if (periods >= MAX_PERIODS_A_BATCH || (size > 0 && size + found.size > room)) break;
      counters[period] = Object.fromEntries([...found].map(([name, { count }]) => [name, count]));
      this.#periods.delete(period);
      this.#waiting -= found.size;
      size += found.size;
      periods += 1;
    }
    return { counters, size };
  }
}
