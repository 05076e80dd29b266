import type { OutcomeCode } from '@call-webhooks/core';
import { loggedError, redactId } from '@call-webhooks/core/internal';
import {
  reconcile,
  SETTLE_FOR_MS,
  type ReconciledEvent,
  type ReconcileOptions,
  type ReconcileResult,
  type ReconcileStore,
} from '@call-webhooks/recovery';
import type {
  ReconcileCounts,
  ReconcileRequest,
  ReconcileRun,
  ReconcileState,
} from '../api-types.ts';
import { RequestError } from '../http/answer.ts';

const MAX_RUNS = 20;
const MAX_EVENTS = 200;

/** The options of `reconcile` of `@call-webhooks/recovery`, without those that the console sets. */
export type ConsoleReconcile = Omit<
  ReconcileOptions,
  'receiver' | 'name' | 'since' | 'until' | 'onEvent' | 'onProgress' | 'signal' | 'now'
>;

/** Runs one reconcile at a time, and keeps the last runs to be asked for. */
export class ReconcileRuns {
  readonly #receiver: ReconcileOptions['receiver'];
  readonly #options: ConsoleReconcile;
  readonly #now: () => number;
  readonly #runs: ReconcileRun[] = [];
  #closed = false;
  #abort = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(
    receiver: ReconcileOptions['receiver'],
    options: ConsoleReconcile,
    now: () => number,
  ) {
    this.#receiver = receiver;
    this.#options = options;
    this.#now = now;
  }

  get state(): ReconcileState {
    const [last] = this.#runs;
    return {
      running: last?.state === 'running' ? last : null,
      runs: this.#runs.filter(({ state }) => state !== 'running'),
    };
  }

  /** Resolves when nothing runs. */
  get done(): Promise<void> {
    return this.#done;
  }

  /** @throws RequestError `already-running`; `invalid-request` if the store knows nothing of the window */
  start({ dryRun, since: askedSince, until: asked }: ReconcileRequest, by: string | null): void {
    if (this.#closed) throw new RequestError('already-running', 'The console is closing.');
    if (this.state.running)
      throw new RequestError(
        'already-running',
        'Another run is on its way. Wait for it, or stop it.',
      );
    const startedAt = this.#now();
    const until = Math.min(asked ?? startedAt - SETTLE_FOR_MS, startedAt);
    const since = Math.max(askedSince, this.#knownSince(startedAt));
    if (since > askedSince && since >= until) throw nothingKnown(startedAt, since, until);
    const run: ReconcileRun = {
      ...{ id: crypto.randomUUID(), by, dryRun, since, until },
      ...(since > askedSince && { askedSince }),
      ...{ startedAt, endedAt: null, state: 'running', counts: countsOf({}, dryRun), events: [] },
    };
    this.#runs.unshift(run);
    this.#runs.length = Math.min(this.#runs.length, MAX_RUNS);
    this.#abort = new AbortController();
    this.#done = this.#run(run, this.#abort.signal);
  }

  /** Stops what runs, and starts nothing any more. */
  close(): Promise<void> {
    this.#closed = true;
    this.abort();
    return this.done;
  }

  /** Stops between two calls. */
  abort(): void {
    this.#abort.abort(new Error('It was stopped in the console.'));
  }

  async #run(run: ReconcileRun, signal: AbortSignal): Promise<void> {
    const { dryRun } = run;
    const onEvent = ({ callId, event, outcome, missed }: ReconciledEvent) => {
      if ((!missed && !dryRun) || run.events.length >= MAX_EVENTS) return;
      const of = { callId: redactId(callId), eventName: redactId(event.eventName) };
      run.events.push({ ...of, missed, ...(!dryRun && { outcome }) });
    };
    const onProgress = (result: ReconcileResult) => {
      run.counts = countsOf(result, dryRun);
    };
    try {
      const result = await reconcile({
        ...this.#options,
        // Not the cursor of a reconciler that runs by itself.
        name: 'console',
        ...(dryRun ? this.#dry() : { receiver: this.#receiver }),
        since: new Date(run.since),
        until: new Date(run.until),
        now: this.#now,
        ...{ onEvent, onProgress, signal },
      });
      run.counts = countsOf(result, dryRun);
      run.state = 'done';
    } catch (error) {
      run.state = signal.aborted ? 'aborted' : 'failed';
      if (!signal.aborted) run.error = failureText(error);
    }
    run.endedAt = this.#now();
  }

  /** What was handled before would look missed, and would be run again. */
  #knownSince(now: number): number {
    const { rememberFor } = this.#store ?? {};
    return rememberFor === undefined ? -Infinity : Math.ceil(now - rememberFor);
  }

  get #store(): ReconcileStore | undefined {
    return this.#options.store ?? this.#receiver.store;
  }

  /** Runs nothing, and keeps no cursor. */
  #dry(): Pick<ReconcileOptions, 'receiver' | 'store'> {
    const { rememberFor } = this.#store ?? {};
    const memory: ReconcileStore = rememberFor === undefined ? {} : { rememberFor };
    const outcome: OutcomeCode = 'ignored';
    return { receiver: { deliver: () => Promise.resolve({ outcome }) }, store: memory };
  }
}

const nothingKnown = (now: number, since: number, until: number): RequestError => {
  const ago = (time: number) => `${Math.ceil((now - time) / 60_000)} min ago`;
  return new RequestError(
    'invalid-request',
    `There is nothing to look at: the window ends ${ago(until)}, and the store knows nothing from before ${ago(since)}. Try again later.`,
  );
};

/** With the fix for a refused token, which is the likeliest mistake. */
function failureText(error: unknown): string {
  const { text } = loggedError(error);
  const { status } = Object(error) as { status?: unknown };
  return status === 401 ? `${text}. Check the apiToken of the client in reconcile.` : text;
}

function countsOf(result: Partial<ReconcileResult>, dryRun: boolean): ReconcileCounts {
  const { seen = 0, missed = 0, handled = 0, known = 0, skipped = 0 } = result;
  const { inDeadLetters = 0, failed = 0, ignored = 0 } = result;
  const expected = handled + known + inDeadLetters + failed + ignored;
  return {
    ...{ seen, expected, missed, handled, known, inDeadLetters, failed },
    ...{ ignored: dryRun ? 0 : ignored, skipped },
  };
}
