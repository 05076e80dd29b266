import { sendToDeadLetter, sinkFailure, toDeadLetter } from './dead-letters/dead-letter.ts';
import { originsOf, WebhookError, withOrigin, type ErrorOrigin } from './errors.ts';
import {
  DeliveryContext,
  LazySignal,
  rolledBack,
  Transactions,
  type Delivery,
} from './events/context.ts';
import { handlerFailed, runHandler } from './events/handlers.ts';
import { groupOf, UNIDENTIFIED, type Route } from './events/route.ts';
import type { RunningDelivery } from './in-flight.ts';
import type { Settings } from './options.ts';
import type { OutcomeCode } from './outcomes.ts';
import { toBase64, type QueuedDelivery } from './queue.ts';
import type { Setup } from './receiver.ts';
import { CHANNELS, traced } from './report/channels.ts';
import { describeError } from './report/error-text.ts';
import {
  failureResult,
  reportAfterCommit,
  type AfterCommit,
  type PendingOutcome,
  type Result,
} from './report/reporter.ts';
import { tenantKey } from './store/keys.ts';
import { Lease, leaseLost, newToken, wasCommitted } from './store/lease.ts';
import type { Admission, Claim } from './store/store.ts';
import { exponentialBackoff } from './time.ts';

/** What is done with an event: its handler runs, it is enqueued, or it is a dead letter at once. */
interface Work {
  readonly route: Route;
  /** The key to lease: the event's own, or none if there is nothing to protect. */
  readonly leaseKey: string | undefined;
  /** Of its events one runs at a time. */
  readonly group?: string | undefined;
  /** Whether a handler runs: what fails may then be tried again, and goes to `deadLetter` at last. */
  readonly runsHandler: boolean;
  readonly result: Result;
  run(): unknown;
  /** Makes the response's error out of what `run` threw. */
  failure(error: unknown): WebhookError;
}

/** The command line redrives an event under this prefix and the webhook id that it had. */
export const REDRIVE = 'redrive-';
/** A delivery waits for its group within this part of `ackWithin`: handler and store need the rest. */
const WAITING_SHARE = 0.9;
/** Milliseconds between two claims of a delivery whose group is busy. */
const pause = exponentialBackoff({ initialDelay: 50, maxDelay: 500 });

/**
 * Runs the event of one authentic delivery: finds its handler, claims the event, runs it, and commits
 * it or gives it back. This goes on beyond the deadline of the response.
 */
export class EventRun implements RunningDelivery {
  readonly startedAt: number;
  readonly tenant: string | undefined;
  /** Its place among the deliveries in flight. */
  place = 0;
  isWaiting = false;
  readonly #delivery: Delivery;
  /** Fills up with what gets known. */
  readonly #outcome: PendingOutcome;
  readonly #setup: Setup;
  readonly #abort = new LazySignal();
  #isAbandoned = false;
  /** Whether the response was sent before. */
  #isLate = false;
  #lease: Lease | undefined;
  #transactions: Transactions | undefined;

  /** @param startedAt `performance.now()` when the request arrived */
  constructor(delivery: Delivery, outcome: PendingOutcome, startedAt: number, setup: Setup) {
    this.startedAt = startedAt;
    this.tenant = delivery.tenant;
    this.#delivery = delivery;
    this.#outcome = outcome;
    this.#setup = setup;
  }

  /** To be called once. Never rejects. */
  async run(): Promise<Result> {
    const { routes, store, deadlines, inFlight, settings } = this.#setup;
    const { source, tenant, rawBody, earlierAttempts = 0 } = this.#delivery;
    let result: Result | undefined;
    try {
      inFlight.add(this);
      let work: Work;
      try {
        work = this.#workOf(await routes.find(rawBody, tenant));
      } catch (error) {
        work = this.#deadLetterAtOnce(error);
      }
      const { eventName, callId, key } = work.route;
      if (eventName !== undefined) this.#outcome.eventName = eventName;
      if (callId !== undefined) this.#outcome.callId = callId;
      if (key !== undefined) this.#outcome.key = key;
      this.#throwIfAbandoned();

      if (source === 'redrive' && work.leaseKey !== undefined) await store.reopen(work.leaseKey);
      const claim = this.#createClaim(work);
      const askedAt = performance.now();
      const answer = await store.admit(claim);
      this.#addStoreMs(askedAt);
      const admission = answer.status === 'group-busy' ? await this.#admitInTurn(claim) : answer;
      if (admission.status !== 'admitted') return { outcome: refusal(admission) };
      const lease = new Lease(store, deadlines, claim, () => this.abort(leaseLost()));
      this.#lease = lease;
      if (this.#isAbandoned) await lease.release();
      this.#throwIfAbandoned();

      const attempt = admission.attempt + earlierAttempts;
      this.#outcome.attempt = attempt;
      // Usually the first renewal is due after the deadline of the response, which starts them then.
      const isDueEarlier = source !== 'webhook' || settings.leaseFor / 3 < settings.ackWithin;
      if (isDueEarlier || this.#isLate) void lease.keep();
      result = await this.#work(work, attempt, lease);
      const endedAt = performance.now();
      const mark = result.outcome === 'dead-lettered' ? result.outcome : undefined;
      if (!(await lease.complete(mark))) throw leaseLost();
      this.#addStoreMs(endedAt);
      if (!result.error)
        this.#transactions?.onLateCall((error) =>
          this.#reportAfterCommit('late-transaction', error, work.route),
        );
      return result;
    } catch (error) {
      // Of a result that could not be committed, `onError` is told as well. It is retried.
      if (result) delete this.#outcome.attemptsLeft;
      return failureResult(result?.error ? alsoThrown(error, originsOf(result.error)) : error);
    } finally {
      inFlight.remove(this);
    }
  }

  /** Tells the handler that its result is no longer waited for. */
  abort(reason: WebhookError): void {
    if (reason.code === 'deadline') {
      this.#isLate = true;
      void this.#lease?.keep();
    }
    this.#abort.abort(reason);
  }

  /** At shutdown: starts nothing new, and releases the lease. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    this.abort(new WebhookError('shutting-down', 'The receiver is closing.'));
    await this.#lease?.release();
  }

  #addStoreMs(since: number): void {
    this.#outcome.storeMs = (this.#outcome.storeMs ?? 0) + performance.now() - since;
  }

  #workOf(found: Route): Work {
    const { profile, queue, oneAtATime } = this.#setup.settings;
    // With Standard Webhooks, the webhook id identifies an event that has no key of its own.
    const route = profile === undefined ? found : this.#withKey(found);
    if (queue) return this.#enqueue(route, queue);
    const group = groupOf(oneAtATime, route, this.#delivery.tenant);
    // A group is leased together with a key. Without one of its own, the event gets its delivery's.
    return group === undefined
      ? this.#handle(route, route.handle && route.key)
      : this.#handle(route, this.#withKey(route).key, group);
  }

  #withKey(route: Route): Route {
    if (route.key !== undefined) return route;
    const { tenant, webhookId } = this.#delivery;
    const id = webhookId.startsWith(REDRIVE) ? webhookId.slice(REDRIVE.length) : webhookId;
    return { ...route, key: tenantKey(tenant, `webhook-id:${id}`) };
  }

  /** Runs the user's handler. */
  #handle(route: Route, leaseKey: string | undefined, group?: string): Work {
    return {
      route,
      leaseKey,
      group,
      runsHandler: true,
      result: { outcome: route.outcome },
      run: () => {
        const transactions = new Transactions(this.#lease);
        this.#transactions = transactions;
        const { fieldNames } = this.#setup.settings;
        const { attempt = 1 } = this.#outcome;
        const context = new DeliveryContext(
          this.#delivery,
          route,
          attempt,
          fieldNames,
          this.#abort,
          transactions,
        );
        return runHandler(route, context);
      },
      failure: (error) => handlerFailed(error, route.sensitiveData),
    };
  }

  /** Enqueues the raw bytes. A worker runs the handler. */
  #enqueue(route: Route, queue: NonNullable<Settings['queue']>): Work {
    const { tenant, webhookId, timestamp, receivedAt, rawBody } = this.#delivery;
    const { key, eventName, callId, sensitiveData } = route;
    const { deadlines, settings } = this.#setup;
    const queued: QueuedDelivery = {
      ...(tenant !== undefined && { tenant }),
      ...{ webhookId, timestamp, receivedAt },
      ...(key !== undefined && { key }),
      ...(eventName !== undefined && { eventName }),
      ...(callId !== undefined && { callId }),
      body: toBase64(rawBody),
    };
    const enqueue = () =>
      deadlines.withTimeout(settings.storeTimeout, Promise.resolve(queue.enqueue(queued)));
    const failure = (error: unknown) => {
      const message = `The queue did not accept the delivery: ${describeError(error, sensitiveData)}`;
      const failed = new WebhookError('store-unavailable', message);
      return withOrigin(failed, { source: 'queue', error, sensitiveData });
    };
    return {
      ...{ route, leaseKey: key, failure },
      runsHandler: false,
      result: { outcome: 'queued' },
      run: () =>
        CHANNELS.enqueue?.hasSubscribers === true
          ? traced(CHANNELS.enqueue, { delivery: queued }, enqueue, failure)
          : enqueue(),
    };
  }

  /**
   * Hands a payload that can never be handled to the dead-letter sink.
   * @throws what is no such payload, or has no sink
   */
  #deadLetterAtOnce(error: unknown): Work {
    const { deadLetter, fieldNames, now } = this.#setup.settings;
    if (!(error instanceof WebhookError) || error.code !== 'invalid-payload') throw error;
    if (error.eventName !== undefined) this.#outcome.eventName = error.eventName;
    if (!deadLetter) throw error;
    const { eventName, issues, message } = error;
    const failure = { attempt: 1, error, at: now() };
    return {
      route: { ...UNIDENTIFIED, eventName },
      leaseKey: undefined,
      runsHandler: false,
      result: { outcome: 'dead-lettered', error },
      run: () => deadLetter(toDeadLetter('invalid-payload', this.#delivery, failure)),
      failure: (sinkError) => {
        const { text, origin } = sinkFailure(sinkError, this.#delivery.rawBody, fieldNames);
        const both = `${message} The deadLetter sink failed as well: ${text}`;
        const failed = new WebhookError('invalid-payload', both, { eventName, issues });
        return withOrigin(failed, ...originsOf(error), origin);
      },
    };
  }

  #createClaim({ leaseKey, group }: Work): Claim {
    const { source, tenant, webhookId, timestamp, replayUntil } = this.#delivery;
    const { profile, leaseFor, storeTimeout } = this.#setup.settings;
    const token = newToken();
    // With the profile, retries keep the webhook id but are signed anew. An id has no dot.
    const signed = profile === undefined ? webhookId : `${webhookId}.${String(timestamp)}`;
    return {
      // What is not from the network is no replay, although its webhook id may be known.
      webhookId: tenantKey(tenant, source === 'webhook' ? signed : `${source}.${token}`),
      replayUntil,
      leaseMs: leaseFor,
      token,
      key: leaseKey,
      group,
      within: storeTimeout,
    };
  }

  /**
   * Makes a claim again until no other event of its group runs.
   * @throws WebhookError `in-progress` if the group stays busy
   */
  async #admitInTurn(claim: Claim): Promise<Exclude<Admission, { status: 'group-busy' }>> {
    const { store, deadlines, settings } = this.#setup;
    const waitingMs = settings.ackWithin * WAITING_SHARE;
    const outcome = this.#outcome;
    try {
      for (let attempt = 1; ; attempt++) {
        const waitsSince = performance.now();
        const left = this.startedAt + waitingMs - waitsSince;
        if (left <= 0)
          throw new WebhookError(
            'in-progress',
            `Another event of its group (oneAtATime) was still being handled after ${String(Math.round(waitingMs))} ms. The delivery used up no attempt.`,
          );
        this.isWaiting = true;
        await new Promise<void>((resolve) => deadlines.in(Math.min(left, pause(attempt)), resolve));
        const askedAt = performance.now();
        outcome.waitMs = (outcome.waitMs ?? 0) + askedAt - waitsSince;
        if (this.#setup.inFlight.closing) throw closed();
        const admission = await store.admit(claim);
        this.#addStoreMs(askedAt);
        if (admission.status !== 'group-busy') return admission;
      }
    } finally {
      this.isWaiting = false;
    }
  }

  /** What the work came to. The lease of work that failed is released before it throws. */
  async #work(work: Work, attempt: number, lease: Lease): Promise<Result> {
    const { settings } = this.#setup;
    const { route } = work;
    let failure: { error: unknown } | undefined;
    const isCrashLooping = work.runsHandler && this.#isCrashLooping(attempt);
    try {
      if (isCrashLooping) throw stuck(attempt);
      await work.run();
    } catch (error) {
      failure = { error };
    }
    if (work.runsHandler && route.handle && !isCrashLooping)
      this.#outcome.handlerMs = performance.now() - lease.takenAt;

    const transactions = this.#transactions;
    transactions?.end();
    if (transactions?.called) {
      const ownFailure = failure;
      const isCommitted = await wasCommitted(transactions, lease).catch((error: unknown) => {
        throw ownFailure ? alsoThrown(error, originsOf(work.failure(ownFailure.error))) : error;
      });
      if (isCommitted) {
        if (failure) this.#reportAfterCommit('failed-after-commit', failure.error, route);
        return work.result;
      }
      failure ??= { error: rolledBack() };
    }
    if (!failure) return work.result;

    const { error } = failure;
    const failed = work.failure(error);
    const thrown: ErrorOrigin[] = [];
    if (work.runsHandler && settings.deadLetter) {
      // Nobody retries what is redriven, so its first failure is final.
      const isRedrive = this.#delivery.source === 'redrive';
      const left = isRedrive ? 0 : Math.max(0, settings.maxAttempts - attempt);
      this.#outcome.attemptsLeft = left;
      if (left === 0) {
        const sinkError = await sendToDeadLetter(this.#delivery, error, attempt, route, settings);
        if (!sinkError) return { outcome: 'dead-lettered', error: failed };
        thrown.push(sinkError);
      }
    }
    await lease.release();
    throw withOrigin(failed, ...originsOf(failed), ...thrown);
  }

  /**
   * Whether so many attempts never ended that the event must be crashing its process. The margin is
   * for attempts that are lost to deploys and slow stores.
   */
  #isCrashLooping(attempt: number): boolean {
    const { deadLetter, maxAttempts } = this.#setup.settings;
    // Somebody decided to run a redriven one once more.
    if (!deadLetter || this.#delivery.source === 'redrive') return false;
    return attempt > maxAttempts * 3;
  }

  #reportAfterCommit(kind: AfterCommit['kind'], error: unknown, route: Route): void {
    const { attempt = 1 } = this.#outcome;
    const failed = { kind, error, route, delivery: this.#delivery, attempt, late: this.#isLate };
    reportAfterCommit(failed, this.#setup.settings);
  }

  /** The receiver may have been closed while a schema or the store was awaited. */
  #throwIfAbandoned(): void {
    if (this.#isAbandoned) throw closed();
  }
}

/** A failure that came on top of others. */
const alsoThrown = (error: unknown, thrown: readonly ErrorOrigin[]): unknown =>
  error instanceof WebhookError ? withOrigin(error, ...originsOf(error), ...thrown) : error;

const stuck = (attempt: number) =>
  new Error(
    `The event is given up after ${String(attempt - 1)} attempts: its process ended each time, or deadLetter failed.`,
  );

const closed = () =>
  new WebhookError('shutting-down', 'The receiver closed before the handler started.');

const refusal = ({
  status,
}: Exclude<Admission, { status: 'admitted' | 'group-busy' }>): OutcomeCode =>
  status === 'dead-lettered' ? 'in-dead-letters' : status;
