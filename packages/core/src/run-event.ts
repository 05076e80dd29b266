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
import { defined, type OutcomeCode } from './outcomes.ts';
import { toBase64, type Queue, type QueuedDelivery } from './queue.ts';
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

/** An event whose handler was found. */
interface Found extends Route {
  /** Of its events one runs at a time. */
  readonly group?: string | undefined;
  /** Why it can never be handled: it goes to `deadLetter` at once. */
  readonly invalid?: WebhookError | undefined;
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
      let found: Found;
      try {
        found = this.#identified(await routes.find(rawBody, tenant));
      } catch (error) {
        found = this.#unfit(error);
      }
      const { eventName, callId, key } = found;
      if (eventName !== undefined) this.#outcome.eventName = eventName;
      if (callId !== undefined) this.#outcome.callId = callId;
      if (key !== undefined) this.#outcome.key = key;
      this.#throwIfAbandoned();

      const claim = this.#claimOf(found);
      if (source === 'redrive' && claim.key !== undefined) await store.reopen(claim.key);
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
      result = await this.#process(found, attempt, lease);
      const endedAt = performance.now();
      const mark = result.outcome === 'dead-lettered' ? result.outcome : undefined;
      if (!(await lease.complete(mark))) throw leaseLost();
      this.#addStoreMs(endedAt);
      if (!result.error)
        this.#transactions?.onLateCall((error) =>
          this.#reportAfterCommit('late-transaction', error, found),
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

  /** The event with the key and the group that it is leased under. */
  #identified(route: Route): Found {
    const { oneAtATime, profile } = this.#setup.settings;
    let found: Found = route;
    // With Standard Webhooks, the webhook id identifies an event that has no key of its own.
    if (profile !== undefined && route.key === undefined)
      found = { ...route, key: this.#deliveryKey() };
    const group = groupOf(oneAtATime, found, this.#delivery.tenant);
    return group === undefined ? found : { ...found, group };
  }

  /**
   * A payload that can never be handled, and goes to `deadLetter`.
   * @throws what is no such payload, or has no `deadLetter`
   */
  #unfit(error: unknown): Found {
    if (!(error instanceof WebhookError) || error.code !== 'invalid-payload') throw error;
    const { eventName } = error;
    if (eventName !== undefined) this.#outcome.eventName = eventName;
    if (!this.#setup.settings.deadLetter) throw error;
    return { ...UNIDENTIFIED, eventName, invalid: error };
  }

  #deliveryKey(): string {
    const { tenant, webhookId } = this.#delivery;
    const id = webhookId.startsWith(REDRIVE) ? webhookId.slice(REDRIVE.length) : webhookId;
    return tenantKey(tenant, `webhook-id:${id}`);
  }

  #claimOf({ key, group, handle }: Found): Claim {
    const { source, tenant, webhookId, timestamp, replayUntil } = this.#delivery;
    const { queue, profile, leaseFor, storeTimeout } = this.#setup.settings;
    const token = newToken();
    const isLeased = queue !== undefined || handle !== undefined; // else there is nothing to protect
    // With the profile, retries keep the webhook id but are signed anew. An id has no dot.
    const signed = profile === undefined ? webhookId : `${webhookId}.${String(timestamp)}`;
    return {
      // What is not from the network is no replay, although its webhook id may be known.
      webhookId: tenantKey(tenant, source === 'webhook' ? signed : `${source}.${token}`),
      replayUntil,
      leaseMs: leaseFor,
      token,
      // A group is leased together with a key. Without one of its own, the event gets its delivery's.
      key: isLeased ? (key ?? (group && this.#deliveryKey())) : undefined,
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

  /** What the event came to. The lease of one that failed is released before this throws. */
  #process(found: Found, attempt: number, lease: Lease): Promise<Result> {
    const { queue } = this.#setup.settings;
    if (found.invalid) return this.#deadLetterAtOnce(found.invalid);
    return queue ? this.#enqueue(found, queue, lease) : this.#handle(found, attempt, lease);
  }

  /** Runs the user's handler. */
  async #handle(found: Found, attempt: number, lease: Lease): Promise<Result> {
    const { fieldNames } = this.#setup.settings;
    const { sensitiveData } = found;
    const transactions = (this.#transactions = new Transactions(lease));
    let failure: { error: unknown } | undefined;
    if (this.#isCrashLooping(attempt)) failure = { error: stuck(attempt) };
    else {
      const context = new DeliveryContext(
        this.#delivery,
        found,
        attempt,
        fieldNames,
        this.#abort,
        transactions,
      );
      try {
        await runHandler(found, context);
      } catch (error) {
        failure = { error };
      }
      if (found.handle) this.#outcome.handlerMs = performance.now() - lease.takenAt;
    }
    transactions.end();

    if (transactions.called) {
      const thrown = failure && ({ source: 'handler', ...failure, sensitiveData } as const);
      const isCommitted = await wasCommitted(transactions, lease).catch((error: unknown) => {
        throw thrown ? alsoThrown(error, [thrown]) : error;
      });
      if (!isCommitted) failure ??= { error: rolledBack() };
      else if (failure) {
        this.#reportAfterCommit('failed-after-commit', failure.error, found);
        failure = undefined;
      }
    }
    return failure ? this.#fail(failure.error, found, attempt, lease) : { outcome: found.outcome };
  }

  /** After the last attempt, the event goes to the dead letters. Before, it is free for the next one. */
  async #fail(error: unknown, found: Found, attempt: number, lease: Lease): Promise<Result> {
    const { settings } = this.#setup;
    const failed = handlerFailed(error, found.sensitiveData);
    let sinkError: ErrorOrigin | undefined;
    if (settings.deadLetter) {
      // Nobody retries what is redriven, so its first failure is final.
      const isRedrive = this.#delivery.source === 'redrive';
      const left = isRedrive ? 0 : Math.max(0, settings.maxAttempts - attempt);
      this.#outcome.attemptsLeft = left;
      if (left === 0) {
        sinkError = await sendToDeadLetter(this.#delivery, error, attempt, found, settings);
        if (!sinkError) return { outcome: 'dead-lettered', error: failed };
      }
    }
    await lease.release();
    throw sinkError ? alsoThrown(failed, [sinkError]) : failed;
  }

  /** Enqueues the raw bytes. A worker runs the handler. */
  async #enqueue(found: Found, queue: Queue, lease: Lease): Promise<Result> {
    const { tenant, webhookId, timestamp, receivedAt, rawBody } = this.#delivery;
    const { key, eventName, callId, sensitiveData } = found;
    const { deadlines, settings } = this.#setup;
    const delivery: QueuedDelivery = {
      ...{ webhookId, timestamp, receivedAt },
      ...defined({ tenant, key, eventName, callId }),
      body: toBase64(rawBody),
    };
    const enqueue = () =>
      deadlines.withTimeout(settings.storeTimeout, Promise.resolve(queue.enqueue(delivery)));
    const failure = (error: unknown) => {
      const message = `The queue did not accept the delivery: ${describeError(error, sensitiveData)}`;
      const failed = new WebhookError('store-unavailable', message);
      return withOrigin(failed, { source: 'queue', error, sensitiveData });
    };
    const channel = CHANNELS.enqueue;
    try {
      if (channel?.hasSubscribers !== true) await enqueue();
      else await traced(channel, { delivery }, enqueue, failure);
      return { outcome: 'queued' };
    } catch (error) {
      await lease.release();
      throw failure(error);
    }
  }

  /** Hands over a payload that can never be handled. Nothing is leased for it. */
  async #deadLetterAtOnce(invalid: WebhookError): Promise<Result> {
    const { deadLetter, fieldNames, now } = this.#setup.settings;
    try {
      const failure = { attempt: 1, error: invalid, at: now() };
      await deadLetter?.(toDeadLetter('invalid-payload', this.#delivery, failure));
      return { outcome: 'dead-lettered', error: invalid };
    } catch (error) {
      const { text, origin } = sinkFailure(error, this.#delivery.rawBody, fieldNames);
      const { eventName, issues, message } = invalid;
      const both = `${message} The deadLetter sink failed as well: ${text}`;
      const failed = new WebhookError('invalid-payload', both, { eventName, issues });
      throw withOrigin(failed, ...originsOf(invalid), origin);
    }
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
