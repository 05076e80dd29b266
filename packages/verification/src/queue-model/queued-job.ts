import { assertThat } from '../model/assert.ts';
import { LEASE_MS, MAX_ATTEMPTS, type QueueProcess } from './queue-process.ts';

/** Runs beyond the last attempt that may end with their process (docs/queues.md). */
const EXTRA_CRASHES = 3;
/** A lease that would last longer was taken before the clock was set back; milliseconds. */
const LONGEST_LEASE_MS = 900_000;

/** What a handler does: succeed, throw, or run until the scenario ends it. */
export type Behaviour = 'ok' | 'fail' | 'slow';

/** One run of a job. */
export class Run {
  readonly process: QueueProcess;
  readonly job: QueuedJob;
  readonly attempt: number;
  readonly #since = performance.now();
  #renewedAt = this.#since;
  #isTooLong = false;
  /** By the wall clock; not before that. */
  leaseEndsAt = Date.now() + LEASE_MS;
  /** Its handler failed in the last attempt, so the sink is called next. */
  awaitsSink = false;
  end: (ok: boolean) => void = () => undefined;

  constructor(process: QueueProcess, job: QueuedJob, attempt: number) {
    this.process = process;
    this.job = job;
    this.attempt = attempt;
  }

  /** Follows the renewals until now. To be called before the clock is set and before a crash. */
  followRenewals(): void {
    if (this.process.state === 'dead') return;
    const now = performance.now();
    const third = LEASE_MS / 3;
    const renewedAt = this.#since + Math.floor((now - this.#since) / third) * third;
    if (renewedAt <= this.#renewedAt) return;
    this.#renewedAt = renewedAt;
    this.#isTooLong = false;
    this.leaseEndsAt = Date.now() - (now - renewedAt) + LEASE_MS;
  }

  /** A lease that became too long is shortened, but only when a worker notices that. */
  clockWasSet(): void {
    const now = Date.now();
    this.#isTooLong ||= this.leaseEndsAt > now + LONGEST_LEASE_MS;
    if (this.#isTooLong) this.leaseEndsAt = Math.min(this.leaseEndsAt, now + LEASE_MS);
  }
}

/** What should be true of one job. */
export class QueuedJob {
  readonly key: string;
  state: 'open' | 'dead' | 'done' = 'open';
  acknowledged = false;
  plan: Behaviour[];
  /** The run that has the lease, or had it when its process died. */
  current: Run | undefined;
  attempt = 0;
  /** The last runs in a row that ended with their process. */
  #crashes = 0;
  /** The attempts are used up and the sink failed: only the sink is called from now on. */
  #isAbandoned = false;
  /** It was retried by hand, and has not been run since. */
  isOwedRun = false;
  sinkAccepted = false;

  constructor(key: string, plan: readonly Behaviour[]) {
    this.key = key;
    this.plan = [...plan];
  }

  /**
   * A worker took the job, to run its handler or only to call the sink.
   * @throws Violation when it must not be taken now, or not for this
   */
  begin(process: QueueProcess, attempt: number, what: 'handler' | 'sink'): Run {
    const at = `${this.key}, attempt ${String(attempt)}`;
    assertThat(this.state === 'open', `${at}: the job is ${this.state}, but was run`);
    assertThat(attempt === this.attempt + 1, `${at}: expected attempt ${String(this.attempt + 1)}`);
    this.attempt = attempt;
    if (this.current?.process.hasReleased === false) {
      this.#checkTakeover(this.current, process);
      this.#crashes += 1;
    }
    const isGivenUp = attempt > MAX_ATTEMPTS && this.#crashes > EXTRA_CRASHES;
    assertThat(what === 'handler' || !this.isOwedRun, `${at}: retried by hand, but was not run`);
    assertThat(
      (this.#isAbandoned || isGivenUp) === (what === 'sink'),
      `${at}: its ${what} was called after ${String(this.#crashes)} crashes`,
    );
    this.isOwedRun = false;
    this.current = new Run(process, this, attempt);
    return this.current;
  }

  #checkTakeover(current: Run, process: QueueProcess): void {
    current.followRenewals();
    assertThat(current.process !== process, `${this.key}: a process runs it twice at once`);
    assertThat(
      Date.now() >= current.leaseEndsAt,
      `${this.key}: it was taken ${String(current.leaseEndsAt - Date.now())} ms before its lease ended`,
    );
  }

  /** Whether what a run writes has an effect. */
  isHeldBy(run: Run): boolean {
    return this.current === run && run.process.state !== 'dead' && !run.process.hasReleased;
  }

  handlerEnded(run: Run, ok: boolean): void {
    const isLast = run.attempt >= MAX_ATTEMPTS;
    run.awaitsSink = !ok && isLast;
    if (!this.isHeldBy(run) || run.awaitsSink) return;
    this.#settle(ok ? 'done' : 'open');
  }

  /** @throws Violation when the sink has accepted the job before */
  sinkEnded(run: Run, accepted: boolean): void {
    run.awaitsSink = false;
    if (!this.isHeldBy(run)) return;
    assertThat(!this.sinkAccepted, `${this.key}: the sink was called after it had accepted`);
    this.sinkAccepted = accepted;
    this.#isAbandoned = !accepted;
    this.#settle(accepted ? 'dead' : 'open');
  }

  retriedByHand(plan: readonly Behaviour[]): void {
    this.#settle('open');
    this.plan = [...plan];
    this.isOwedRun = true;
    this.#isAbandoned = false;
    this.sinkAccepted = false;
  }

  discarded(): void {
    this.#settle('done');
  }

  released(): void {
    this.current = undefined;
  }

  #settle(state: QueuedJob['state']): void {
    this.state = state;
    this.#crashes = 0;
    this.current = undefined;
  }
}
