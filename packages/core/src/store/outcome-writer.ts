import { apartFromRequests, currentProcess } from '#platform';
import { defined } from '../defined.ts';
import { docsUrl } from '../errors.ts';
import type { Outcome } from '../outcomes.ts';
import { loggedError } from '../report/error-text.ts';
import { LineLimit, safeLogger, type Logger } from '../report/logger.ts';
import { printable } from '../report/visible.ts';
import { type Redact, redactedText, withRedactedIds } from '../report/redact.ts';
import { type Deadline, type Deadlines, waitAtMost } from '../time.ts';
import { newToken } from './lease.ts';
import {
  durationBucket,
  type LogProcess,
  type OutcomeBatch,
  type OutcomeLog,
  type OutcomeRow,
} from './outcome-log.ts';

/** How long outcomes are gathered until they are written; milliseconds. */
const WRITE_AFTER_MS = 1_000;
/** The longest pause after failed writes; milliseconds. */
const MAX_PAUSE_MS = 30_000;
const MAX_ROWS = 50;
const MAX_ERROR = 200;
const MAX_ID = 200;
/** As long as counters are kept: 26 hours. */
const MAX_MINUTES = 1_560;
/** After an outage, so that no batch blocks a store. */
const MAX_MINUTES_A_BATCH = 60;
/** Tenants may have any number of secrets. */
const MAX_COUNTERS = 1_000;
/** A timer that is so late belonged to a request that is over, as on Workers; milliseconds. */
const LOST_AFTER_MS = 5_000;

type Counters = Map<string, number>;

export interface WriterSettings {
  readonly logger: Logger;
  readonly redact?: Redact | undefined;
  readonly deadlines: Deadlines;
  /** How long a write may take; milliseconds. */
  readonly timeoutMs: number;
  /** The clock of what is written; milliseconds since the epoch. Timers have their own. */
  now(): number;
  /** How many deliveries are being handled. */
  inFlight(): number;
}

/**
 * Writes outcomes to the log of a store: at most once a second, and never when nothing ended. No
 * delivery waits for it, and its memory is bounded, however long the log fails. A batch that may not
 * have been taken is written again before the next one, under the same id, so the counts stay exact.
 */
export class OutcomeWriter {
  readonly #log: OutcomeLog;
  readonly #settings: WriterSettings;
  readonly #startedAt: number;
  readonly #limit = new LineLimit();
  /** Timers run in the context of the delivery that set them, whose trace has no part in this. */
  readonly #onTimer = apartFromRequests(() => void this.#write());
  #processId: string | undefined;
  /** By how much they matter. */
  #rows: OutcomeRow[][] = [[], [], []];
  #rowsDropped = 0;
  readonly #minutes = new Map<number, Counters>();
  #unwritten: OutcomeBatch | undefined;
  #failures = 0;
  #timer: Deadline | undefined;
  #timerAt = 0;
  #writing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(log: OutcomeLog, settings: WriterSettings) {
    this.#log = log;
    this.#settings = settings;
    this.#startedAt = this.#clock();
  }

  /** Counts an outcome, and keeps its row if there is room. Never throws. */
  add(outcome: Outcome): void {
    try {
      const at = this.#clock();
      this.#count(outcome, at);
      if (!this.#timer) this.#setTimer();
      else if (Date.now() > this.#timerAt + LOST_AFTER_MS) this.#writeNow();
      this.#keep(outcome, at);
    } catch {
      // An error of the user, which cannot be read.
    }
  }

  /**
   * Writes what is left, and that the process was closed.
   * @param withinMs milliseconds to wait for it
   */
  close(withinMs: number): Promise<void> {
    return (this.#closing ??= waitAtMost(withinMs, this.#writeAll()));
  }

  /** A clock of the user may throw or be odd, which must not cost an outcome. */
  #clock(): number {
    try {
      const now = Math.floor(this.#settings.now());
      if (Number.isSafeInteger(now)) return now;
    } catch {
      // As if there was none.
    }
    return Date.now();
  }

  #count({ source, outcome, late, handlerMs, lagMs, secretId }: Outcome, at: number): void {
    const minute = Math.floor(at / 60_000);
    let counters = this.#minutes.get(minute);
    if (!counters) {
      this.#minutes.set(minute, (counters = new Map<string, number>()));
      const [oldest] = this.#minutes.keys();
      if (this.#minutes.size > MAX_MINUTES) this.#minutes.delete(oldest as number);
    }
    add(counters, `${late ? 'late' : 'outcome'}/${source}/${outcome}`);
    if (handlerMs !== undefined) add(counters, `handlerMs/${String(durationBucket(handlerMs))}`);
    if (late) return; // its first outcome was the delivery
    if (lagMs !== undefined) add(counters, `lagMs/${String(durationBucket(lagMs))}`);
    if (secretId === undefined) return;
    const name = `secret/${shownId(secretId)}`;
    if (counters.size < MAX_COUNTERS || counters.has(name)) add(counters, name);
  }

  #keep(outcome: Outcome, at: number): void {
    // Not before the first delivery: Workers allow no random values at import.
    const id = (this.#processId ??= newToken());
    const rows = this.#rows[rank(outcome)] as OutcomeRow[];
    if (rows.length < MAX_ROWS) rows.push(rowOf(outcome, at, id));
    else this.#rowsDropped += 1;
  }

  #setTimer(): void {
    this.#timer?.cancel();
    const pause = Math.min(MAX_PAUSE_MS, WRITE_AFTER_MS * 2 ** this.#failures);
    this.#timerAt = Date.now() + pause;
    this.#timer = this.#settings.deadlines.in(pause, () => {
      this.#cancelTimer();
      this.#onTimer();
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A timer was lost, so one of a write may be as well. */
  #writeNow(): void {
    this.#cancelTimer();
    this.#writing = undefined;
    this.#onTimer();
  }

  /** Writes one batch, one at a time. Never rejects. */
  #write(): Promise<void> {
    if (this.#writing) return this.#writing;
    const writing = this.#append().finally(() => {
      if (this.#writing === writing) this.#writing = undefined;
    });
    return (this.#writing = writing);
  }

  async #append(): Promise<void> {
    const batch = (this.#unwritten ??= this.#nextBatch());
    const { deadlines, timeoutMs } = this.#settings;
    try {
      const appended = Promise.resolve(this.#log.append(batch));
      const taken = await deadlines.withTimeout(timeoutMs, appended);
      const { refused } = Object(taken) as { refused?: unknown };
      if (refused !== undefined) this.#warn('refused a batch, which is dropped', refused);
      if (this.#unwritten === batch) this.#unwritten = undefined;
      this.#failures = 0;
      if (this.#minutes.size > 0 && !this.#timer) this.#setTimer();
    } catch (error) {
      this.#failures += 1;
      this.#setTimer();
      this.#warn('was not written and will be tried again', error);
    }
  }

  #nextBatch(): OutcomeBatch {
    const found = this.#rows.flat();
    const rows = found.slice(0, MAX_ROWS).sort((one, other) => one.at - other.at);
    const dropped = this.#rowsDropped + found.length - rows.length;
    this.#rows = [[], [], []];
    this.#rowsDropped = 0;
    const minutes = [...this.#minutes].slice(0, MAX_MINUTES_A_BATCH);
    for (const [minute] of minutes) this.#minutes.delete(minute);
    if (dropped > 0) minutes.at(-1)?.[1].set('rowsDropped', dropped);
    const counts = Object.fromEntries(
      minutes.map(([minute, counters]) => [minute, Object.fromEntries(counters)]),
    );
    return { id: newToken(), process: this.#process(), rows, counts };
  }

  #process(): LogProcess {
    return {
      id: (this.#processId ??= newToken()),
      ...currentProcess(),
      startedAt: this.#startedAt,
      at: this.#clock(),
      inFlight: this.#settings.inFlight(),
      ...(this.#closing && { closed: true }),
    };
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // `#closing` is set
    if (this.#processId === undefined) return; // nothing ever ended
    this.#cancelTimer();
    await this.#writing;
    if (this.#unwritten) await this.#write();
    if (!this.#unwritten) await this.#write();
  }

  #warn(what: string, error: unknown): void {
    const suppressed = this.#limit.pass();
    if (suppressed === undefined) return;
    const { logger, redact } = this.#settings;
    const { text, err } = loggedError(error, redact);
    safeLogger(logger).warn(
      { ...(suppressed > 0 && { suppressed }), err, docs: docsUrl('stores.md#the-outcome-log') },
      `call-webhooks: the outcome log ${what}; deliveries go on: ${text}`,
    );
  }
}

const add = (counters: Counters, name: string) => counters.set(name, (counters.get(name) ?? 0) + 1);

/** Failures first; then what succeeded; and last what anybody on the network can cause. */
function rank({ outcome, status, webhookId }: Outcome): 0 | 1 | 2 {
  if (status >= 500 || outcome === 'dead-lettered') return 0;
  if (status < 400) return 1;
  return webhookId === undefined ? 2 : 0;
}

function rowOf(ended: Outcome, at: number, process: string): OutcomeRow {
  const { outcome, source, durationMs, handlerMs, secretId, error, ...rest } =
    withRedactedIds(ended);
  const { late, tenant, eventName, callId, key, webhookId, attempt, attemptsLeft, lagMs } = rest;
  return {
    at,
    process,
    outcome,
    source,
    durationMs: tenths(durationMs),
    ...defined({ late, tenant, eventName, callId, key, webhookId, attempt, attemptsLeft, lagMs }),
    ...(handlerMs !== undefined && { handlerMs: tenths(handlerMs) }),
    ...(secretId !== undefined && { secretId: shownId(secretId) }),
    ...(error && { error: redactedText(error.message).slice(0, MAX_ERROR) }),
  };
}

/** The id of a secret is a text of the configuration. */
const shownId = (id: string) => printable(id.slice(0, MAX_ID));

const tenths = (ms: number) => Math.round(ms * 10) / 10;
