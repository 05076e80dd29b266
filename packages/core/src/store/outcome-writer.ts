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
import type { LogProcess, OutcomeBatch, OutcomeLog, OutcomeRow } from './outcome-log.ts';
import { OutcomeTally } from './outcome-tally.ts';

/** How long outcomes are gathered until they are written; milliseconds. */
const WRITE_AFTER_MS = 1_000;
/** The longest pause after failed writes; milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** Of each kind: failures, and all others. */
const MAX_ROWS = 50;
const MAX_ERROR = 200;
const MAX_ID = 200;
/** A timer that is so late belonged to a request that is over, as on Workers; milliseconds. */
const LOST_AFTER_MS = 5_000;

export interface WriterSettings {
  readonly logger: Logger;
  readonly redact?: Redact | undefined;
  readonly deadlines: Deadlines;
  /** How long a write may take; milliseconds. */
  readonly timeoutMs: number;
  /** The clock of what is written; milliseconds since the epoch. Timers have their own. */
  now(): number;
  /** What the process says of itself with each batch. */
  describe(): Pick<LogProcess, 'inFlight' | 'version' | 'ackWithin' | 'rememberFor'>;
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
  readonly #tally = new OutcomeTally();
  #unwritten: Omit<OutcomeBatch, 'process'> | undefined;
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
      this.#tally.add(outcome, at);
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

  #keep(outcome: Outcome, at: number): void {
    // Not before the first delivery: Workers allow no random values at import.
    const id = (this.#processId ??= newToken());
    const rows = this.#rows[rank(outcome)] as OutcomeRow[];
    if (rows.length < MAX_ROWS) rows.push(rowOf(outcome, at, id));
    else this.#tally.addDropped(1, at);
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
      // Its time is that of this attempt: a store compares it with its own clock.
      const appended = Promise.resolve(this.#log.append({ ...batch, process: this.#process() }));
      const taken = await deadlines.withTimeout(timeoutMs, appended);
      const { refused } = Object(taken) as { refused?: unknown };
      if (refused !== undefined) this.#warn('could not store a batch, which is lost', refused);
      if (this.#unwritten === batch) this.#unwritten = undefined;
      this.#failures = 0;
      if (!this.#tally.isEmpty && !this.#timer) this.#setTimer();
    } catch (error) {
      this.#failures += 1;
      this.#setTimer();
      this.#warn('could not be written and will be tried again', error);
    }
  }

  #nextBatch(): Omit<OutcomeBatch, 'process'> {
    const [failures = [], ...found] = this.#rows;
    const others = found.flat();
    const rows = others.slice(0, MAX_ROWS).sort((one, other) => one.at - other.at);
    this.#rows = [[], [], []];
    this.#tally.addDropped(others.length - rows.length, this.#clock());
    return { id: newToken(), rows, failures, ...this.#tally.take() };
  }

  #process(): LogProcess {
    return {
      id: (this.#processId ??= newToken()),
      ...currentProcess(),
      startedAt: this.#startedAt,
      at: this.#clock(),
      ...this.#settings.describe(),
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
      { ...(suppressed > 0 && { suppressed }), err, docs: docsUrl('outcome-log.md') },
      `call-webhooks: the outcome log ${what}; deliveries are not affected: ${text}`,
    );
  }
}

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
