import { toBase64 } from '#platform';
import { toDeadLetter } from './dead-letters/dead-letter.ts';
import { alsoThrown, handOver } from './dead-letters/hand-over.ts';
import { defined } from './defined.ts';
import type { Delivery, Route } from './delivery.ts';
import { originsOf, WebhookError, withOrigin } from './errors.ts';
import { LazySignal } from './events/context.ts';
import { handlerFailed } from './events/handlers.ts';
import { groupOf, type Routes } from './events/route.ts';
import { type HandlerEnd, runAndSettle } from './run-handler.ts';
import type { HeadersLike } from './http/request.ts';
import type { InFlight, RunningDelivery } from './in-flight.ts';
import type { Settings } from './options.ts';
import type { OutcomeCode } from './outcome-table.ts';
import type { PendingOutcome, Result } from './outcomes.ts';
import type { Queue, QueuedDelivery } from './queue.ts';
import { traced } from './report/channels.ts';
import { describeError } from './report/error-text.ts';
import { failureResult, type Reporter } from './report/reporter.ts';
import { claimIdOf } from './sender.ts';
import type { RequestKeys } from './signature/secret-provider.ts';
import { tenantKey } from './store/keys.ts';
import { Lease, leaseLost, newToken, settleTransactions } from './store/lease.ts';
import type { StoreCalls } from './store/store-calls.ts';
import type { Admission, Claim } from './store/store.ts';
import { type Deadlines, exponentialBackoff } from './time.ts';

/** What a receiver is made of: its settings, and what was created for them. */
export interface ReceiverParts {
  readonly settings: Settings;
  readonly deadlines: Deadlines;
  readonly inFlight: InFlight;
  readonly routes: Routes;
  readonly store: StoreCalls;
  readonly reporter: Reporter;
  /** Who a request is for, and the keys to verify it with. */
  keysFor(request: { url?: string | undefined; headers: HeadersLike }): RequestKeys;
}

/** What a delivery has been identified as. */
interface Found extends Route {
  /** Events of one group run one at a time. */
  readonly group?: string | undefined;
}

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
  readonly #pending: PendingOutcome;
  readonly #parts: ReceiverParts;
  readonly #abort = new LazySignal();
  /** Called at shutdown, once nothing more is waited for: a handler may never end. */
  onAbandoned: (() => void) | undefined;
  #isAbandoned = false;
  /** Whether the response was sent before. */
  #isLate = false;
  /** When the last claim was sent; `performance.now()`. */
  #claimedAt = 0;
  #lease: Lease | undefined;
  #end: HandlerEnd | undefined;

  /** @param startedAt `performance.now()` when the request arrived */
  constructor(
    delivery: Delivery,
    pending: PendingOutcome,
    startedAt: number,
    parts: ReceiverParts,
  ) {
    this.startedAt = startedAt;
    this.tenant = delivery.tenant;
    this.#delivery = delivery;
    this.#pending = pending;
    this.#parts = parts;
  }

  /** To be called once. Never rejects. */
  async run(): Promise<Result> {
    const { routes, store, deadlines, inFlight, settings } = this.#parts;
    const { source, tenant, rawBody, earlierAttempts = 0 } = this.#delivery;
    let result: Result | undefined;
    try {
      inFlight.add(this);
      const found = this.#grouped(await routes.find(rawBody, tenant));
      this.#note(found);
      // Without deadLetter there is nowhere to keep it, so the service keeps it and sends it again.
      if (found.invalid && !settings.deadLetter) throw found.invalid;
      this.#throwIfAbandoned();

      const claim = this.#claimOf(found);
      if (source === 'redrive' && claim.key !== undefined) await store.reopen(claim.key);
      const answer = await this.#admit(claim);
      const admission = answer.status === 'group-busy' ? await this.#admitInTurn(claim) : answer;
      if (admission.status !== 'admitted') return { outcome: refusal(admission) };
      const onLost = () => this.abort(leaseLost());
      const lease = new Lease(store, deadlines, claim, this.#claimedAt, onLost);
      this.#lease = lease;
      if (this.#isAbandoned) await lease.release();
      this.#throwIfAbandoned();

      const attempt = admission.attempt + earlierAttempts;
      this.#pending.attempt = attempt;
      // Usually the first renewal is due after the deadline of the response, which starts them then.
      const isDueEarlier = source !== 'webhook' || settings.leaseFor / 3 < settings.ackWithin;
      if (isDueEarlier || this.#isLate) lease.keep();
      if (found.invalid) result = await this.#giveUp(found.invalid, found.invalid, found, lease);
      else if (settings.queue) result = await this.#enqueue(found, settings.queue, lease);
      else result = await this.#handle(found, attempt, lease);
      const endedAt = performance.now();
      const mark = result.outcome === 'dead-lettered' ? result.outcome : undefined;
      // No response waits for a redriven or reconciled event, and without its mark its handler would
      // run again.
      const isDone = await lease.complete(mark).catch(async (error: unknown) => {
        if (source === 'webhook') throw error;
        // The call that failed may have been carried out, and only its answer was lost.
        if (await lease.complete(mark)) return true;
        return claim.key !== undefined && (await store.peek(claim.key)) === (mark ?? 'handled');
      });
      if (!isDone) throw leaseLost();
      this.#addStoreMs(endedAt);
      if (!result.error) this.#end?.reportLateCalls();
      return result;
    } catch (error) {
      // `onError` also gets the error of a result that could not be committed. The event is retried.
      if (result) delete this.#pending.attemptsLeft;
      return failureResult(result?.error ? alsoThrown(error, originsOf(result.error)) : error);
    } finally {
      inFlight.remove(this);
    }
  }

  #grouped(route: Route): Found {
    try {
      const group = groupOf(this.#parts.settings.oneAtATime, route, this.#delivery.tenant);
      return group === undefined ? route : { ...route, group };
    } catch (error) {
      return { ...route, invalid: error as WebhookError };
    }
  }

  #note({ eventName, callId, key }: Route): void {
    if (eventName !== undefined) this.#pending.eventName = eventName;
    if (callId !== undefined) this.#pending.callId = callId;
    if (key !== undefined) this.#pending.key = key;
  }

  #deliveryKey(): string {
    const { tenant, webhookId } = this.#delivery;
    return tenantKey(tenant, `webhook-id:${webhookId}`);
  }

  #claimOf({ key, group, handle }: Found): Claim {
    const { source, tenant, webhookId, replayUntil } = this.#delivery;
    const { queue, leaseFor, storeTimeout } = this.#parts.settings;
    const token = newToken();
    const isLeased = queue !== undefined || handle !== undefined; // else there is nothing to protect
    return {
      // Something that did not arrive over the network is not a replay, although its webhook id may be
      // known.
      webhookId: tenantKey(tenant, source === 'webhook' ? webhookId : claimIdOf(source, token)),
      replayUntil,
      leaseMs: leaseFor,
      token,
      // A group is leased together with a key. Without one of its own, the event gets its delivery's.
      key: isLeased ? (key ?? (group && this.#deliveryKey())) : undefined,
      group,
      within: storeTimeout,
    };
  }

  async #admit(claim: Claim): Promise<Admission> {
    this.#claimedAt = performance.now();
    const admission = await this.#parts.store.admit(claim);
    this.#addStoreMs(this.#claimedAt);
    return admission;
  }

  /**
   * Makes a claim again until no other event of its group runs.
   * @throws WebhookError `in-progress` if the group stays busy
   */
  async #admitInTurn(claim: Claim): Promise<Exclude<Admission, { status: 'group-busy' }>> {
    const { deadlines, settings } = this.#parts;
    const waitingMs = settings.ackWithin * WAITING_SHARE;
    const pending = this.#pending;
    try {
      for (let round = 1; ; round++) {
        const waitsSince = performance.now();
        const left = this.startedAt + waitingMs - waitsSince;
        if (left <= 0)
          throw new WebhookError(
            'in-progress',
            `Another event of its group (oneAtATime) was still being handled after ${String(Math.round(waitingMs))} ms. The delivery did not count as an attempt.`,
          );
        this.isWaiting = true;
        await new Promise<void>((resolve) => deadlines.in(Math.min(left, pause(round)), resolve));
        pending.waitMs = (pending.waitMs ?? 0) + performance.now() - waitsSince;
        // A handler that runs has a grace period. What only waits gives up at once.
        if (this.#parts.inFlight.closing) throw closed();
        const admission = await this.#admit(claim);
        if (admission.status !== 'group-busy') return admission;
      }
    } finally {
      this.isWaiting = false;
    }
  }

  #addStoreMs(since: number): void {
    this.#pending.storeMs = (this.#pending.storeMs ?? 0) + performance.now() - since;
  }

  /**
   * Runs the user's handler.
   * @throws WebhookError if it failed; its lease is released, unless the store could not be asked
   */
  async #handle(found: Found, attempt: number, lease: Lease): Promise<Result> {
    if (this.#isCrashLooping(attempt)) return this.#fail(stuck(attempt), found, attempt, lease);
    this.#end = await runAndSettle(
      {
        delivery: this.#delivery,
        route: found,
        attempt,
        abort: this.#abort,
        target: lease,
        pending: this.#pending,
        settle: (transactions) => settleTransactions(transactions, lease),
        isLate: () => this.#isLate,
      },
      this.#parts.settings,
    );
    const { failure } = this.#end;
    return failure ? this.#fail(failure.error, found, attempt, lease) : { outcome: found.outcome };
  }

  /**
   * Whether so many attempts never ended that the event must be crashing its process. The margin is
   * for attempts that are lost to deploys and slow stores.
   */
  #isCrashLooping(attempt: number): boolean {
    const { deadLetter, maxAttempts } = this.#parts.settings;
    // A redrive is a decision to run the event once more.
    if (!deadLetter || this.#pending.source === 'redrive') return false;
    return attempt > maxAttempts * 3;
  }

  /** After the last attempt, the event goes to the dead letters. Before, it is free for the next one. */
  async #fail(error: unknown, found: Found, attempt: number, lease: Lease): Promise<Result> {
    const { deadLetter, maxAttempts } = this.#parts.settings;
    const failed = handlerFailed(error, found.sensitiveData);
    if (deadLetter) {
      // A redriven event is not retried, so its first failure is final.
      const isRedrive = this.#pending.source === 'redrive';
      const left = isRedrive ? 0 : Math.max(0, maxAttempts - attempt);
      this.#pending.attemptsLeft = left;
      if (left === 0) return this.#giveUp(error, failed, found, lease);
    }
    await lease.release();
    throw failed;
  }

  /**
   * Hands the event over to the dead letters.
   * @throws WebhookError `failed`, if they did not keep it; its lease is released
   */
  async #giveUp(error: unknown, failed: WebhookError, route: Found, lease: Lease): Promise<Result> {
    const { deadLetter, now } = this.#parts.settings;
    const { attempt = 1 } = this.#pending;
    const { source } = this.#pending;
    const delivery = { ...this.#delivery, source };
    const letter = toDeadLetter(delivery, { attempt, error, at: now(), route });
    // Without a key, it would become a letter other than the one that is being redriven over the
    // network.
    const isOther = source === 'redrive' && this.#delivery.source === 'webhook' && !route.key;
    if (deadLetter && !isOther && (await handOver(deadLetter, letter, failed, route.sensitiveData)))
      return { outcome: 'dead-lettered', error: failed };
    await lease.release();
    throw failed;
  }

  /**
   * Enqueues the raw bytes. A worker runs the handler.
   * @throws WebhookError `store-unavailable`; the lease is released
   */
  async #enqueue(found: Found, queue: Queue, lease: Lease): Promise<Result> {
    const { tenant, webhookId, timestamp, receivedAt, rawBody } = this.#delivery;
    const { key, eventName, callId, sensitiveData } = found;
    const { deadlines, settings } = this.#parts;
    const failure = (error: unknown) => {
      const message = `The queue did not accept the delivery: ${describeError(error, sensitiveData)}`;
      const failed = new WebhookError('store-unavailable', message);
      return withOrigin(failed, { source: 'queue', error, sensitiveData });
    };
    try {
      const queued: QueuedDelivery = {
        webhookId,
        timestamp,
        receivedAt,
        ...defined({ tenant, key, eventName, callId }),
        body: toBase64(rawBody),
      };
      const enqueue = () =>
        deadlines.withTimeout(settings.storeTimeout, Promise.resolve(queue.enqueue(queued)));
      await traced('enqueue', () => ({ delivery: queued }), enqueue, failure);
      return { outcome: 'queued' };
    } catch (error) {
      await lease.release();
      throw failure(error);
    }
  }

  /**
   * The response was sent before the run ended: the handler's signal aborts, and the handler goes on.
   */
  goOnLate(reason: WebhookError): void {
    this.#isLate = true;
    this.#lease?.keep();
    this.abort(reason);
  }

  /** Tells the handler to stop. */
  abort(reason: WebhookError): void {
    this.#abort.abort(reason);
  }

  /** At shutdown: starts nothing new, and releases the lease. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    this.abort(new WebhookError('shutting-down', 'The receiver is closing.'));
    // Then the handler has ended, and the response is that of the commit, which a time limit ends.
    const isCommitting = this.#lease?.isCommitting === true;
    await this.#lease?.release();
    if (!isCommitting) this.onAbandoned?.();
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** The receiver may have been closed while a schema or the store was awaited. */
  #throwIfAbandoned(): void {
    if (this.#isAbandoned) throw closed();
  }
}

const stuck = (attempt: number) =>
  new Error(
    `The event was given up after ${String(attempt - 1)} attempts: each time, the process ended or deadLetter failed.`,
  );

const closed = () =>
  new WebhookError('shutting-down', 'The receiver closed before the handler started.');

const refusal = ({
  status,
}: Exclude<Admission, { status: 'admitted' | 'group-busy' }>): OutcomeCode =>
  status === 'dead-lettered' ? 'in-dead-letters' : status;
