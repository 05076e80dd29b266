import { isPending } from '../awaitable.ts';
import { reportOfDone, rolledBack, type OfDone } from '../dispatch/after-transaction.ts';
import { DeliveryContext } from '../dispatch/context.ts';
import type { Delivery } from '../dispatch/delivery.ts';
import { createJob, type Job, type JobDependencies } from '../dispatch/job.ts';
import { originsOf, withOrigin } from '../outcome/origin.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { failureResult, type DeliveryInfo, type Result } from '../reporting/reporter.ts';
import { Lease, type LeaseStore } from '../store/lease.ts';
import type { Claim } from '../store/store.ts';
import { createClaim, refusalOutcome } from './claim.ts';
import type { RunningDelivery } from './concurrency-limiter.ts';
import { attemptsLeft, isCrashLooping, markOf, sendToDeadLetter } from './dead-letters.ts';
import type { GroupTurns } from './group-turns.ts';
import type { Settings } from './options.ts';
import { leaseLost, wasCommitted } from './transaction-end.ts';

/** What processing needs from the receiver. */
export interface ProcessorDependencies extends JobDependencies {
  readonly settings: Settings;
  readonly store: LeaseStore;
  /** Only with `oneAtATime`. */
  readonly turns: GroupTurns | undefined;
}

/** Processes one authentic delivery, from its claim to its commit, even beyond its deadline. */
export class DeliveryProcessor implements RunningDelivery {
  /** Set by `start`. Settles when processing ends; never rejects. */
  done!: Promise<Result>;
  /** Set once processing has ended: synchronously, if neither store nor handler is asynchronous. */
  result: Result | undefined;
  readonly #delivery: Delivery;
  readonly #replayUntil: number;
  readonly #info: DeliveryInfo;
  readonly #deps: ProcessorDependencies;
  #context: DeliveryContext | undefined;
  #abortReason: WebhookError | undefined;
  #abandoned = false;
  #lease: Lease | undefined;
  #group: string | undefined;

  constructor(
    delivery: Delivery,
    replayUntil: number,
    info: DeliveryInfo,
    deps: ProcessorDependencies,
  ) {
    this.#delivery = delivery;
    this.#replayUntil = replayUntil;
    this.#info = info;
    this.#deps = deps;
  }

  /** @param startedAt `performance.now()` when the request arrived */
  start(startedAt: number): void {
    this.done = this.#process(startedAt);
  }

  /** Tells the handler that its result is no longer waited for. */
  abort(reason: WebhookError): void {
    this.#abortReason ??= reason; // the handler may not have started
    this.#context?.abort(reason);
  }

  /** At shutdown: starts nothing new, and releases the lease. */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.abort(new WebhookError('shutting-down', 'The receiver is closing.'));
    await this.#lease?.release();
  }

  /** Awaits only what is pending: a quick delivery has ended when this returns. */
  async #process(startedAt: number): Promise<Result> {
    const info = this.#info;
    try {
      const job = await createJob(this.#delivery, this.#deps);
      const { eventName, callId, key } = job.route;
      if (eventName !== undefined) info.eventName = eventName;
      if (callId !== undefined) info.callId = callId;
      if (key !== undefined) info.key = key;
      this.#throwIfAbandoned();
      const { settings, store, turns } = this.#deps;
      if (this.#delivery.source === 'redrive' && key !== undefined) await store.reopen?.(key);
      const claim = createClaim(this.#delivery, this.#replayUntil, job, settings);
      this.#group = job.group;
      const claimedAt = performance.now();
      const pendingAdmission = turns
        ? turns.admit(claim, store, startedAt, info)
        : store.admit(claim);
      const admission = isPending(pendingAdmission) ? await pendingAdmission : pendingAdmission;
      const admittedAt = performance.now();
      info.storeMs = admittedAt - claimedAt - (info.waitMs ?? 0);
      if (admission.status !== 'admitted')
        return this.#finish({ outcome: refusalOutcome(admission) });
      const context = this.#createContext(job, admission.attempt);
      const lease = this.#createLease(claim, context, admittedAt);
      if (this.#abandoned) await lease.release();
      this.#throwIfAbandoned();
      let result: Result | undefined;
      let failure: unknown;
      const isCrashed = isCrashLooping(job, this.#delivery, context.attempt, settings);
      try {
        if (isCrashed) throw new Error(`None of ${String(context.attempt - 1)} attempts ended.`);
        const running = job.run(context);
        if (isPending(running)) lease.startRenewal();
        result = isPending(running) ? await running : running;
      } catch (error) {
        failure = error;
      }
      context.end();
      if (job.kind === 'handler' && job.route.handle && !isCrashed)
        info.handlerMs = performance.now() - admittedAt;
      if (context.transactions && (await wasCommitted(context.transactions, lease))) {
        if (!result) this.#reportOfDone(failure, 'failed-after-commit', job, context);
        result = { outcome: job.route.outcome };
      } else if (context.transactions && result) {
        result = undefined;
        failure = rolledBack();
      }
      result ??= await this.#handleFailure(failure, job, context, lease);
      const endedAt = performance.now();
      const completed = lease.complete(markOf(result));
      const isHeld = isPending(completed) ? await completed : completed;
      info.storeMs += performance.now() - endedAt;
      if (!isHeld) throw leaseLost();
      if (job.kind === 'handler' && result.outcome === job.route.outcome)
        context.reportLateCalls((error) => {
          this.#reportOfDone(error, 'late-transaction', job, context);
        });
      return this.#finish(result);
    } catch (error) {
      if (error instanceof WebhookError && error.eventName !== undefined)
        info.eventName = error.eventName;
      return this.#finish(failureResult(error));
    }
  }

  #finish(result: Result): Result {
    if (this.#group !== undefined) this.#deps.turns?.freed(this.#group);
    return (this.result = result);
  }

  /** The receiver may have been closed while a schema or the store was awaited. */
  #throwIfAbandoned(): void {
    if (this.#abandoned)
      throw new WebhookError('shutting-down', 'The receiver closed before the handler started.');
  }

  /** @param admitted the attempt as far as the store knows */
  #createContext({ route }: Job, admitted: number): DeliveryContext {
    const attempt = admitted + (this.#delivery.earlierAttempts ?? 0);
    this.#info.attempt = attempt;
    const { settings } = this.#deps;
    const context = new DeliveryContext(this.#delivery, route, attempt, settings.fieldNames);
    this.#context = context;
    if (this.#abortReason) context.abort(this.#abortReason);
    return context;
  }

  #createLease(claim: Claim, context: DeliveryContext, takenAt: number): Lease {
    const { store, scheduler } = this.#deps;
    const onLost = () => context.abort(leaseLost());
    this.#lease = new Lease(store, scheduler, claim, takenAt, onLost);
    context.completable = this.#lease;
    return this.#lease;
  }

  #reportOfDone(
    error: unknown,
    kind: OfDone['kind'],
    { route }: Job,
    { attempt }: DeliveryContext,
  ): void {
    const late = this.#abortReason?.code === 'deadline';
    const failure = { error, kind, route, delivery: this.#delivery, attempt, late };
    reportOfDone(failure, this.#deps.settings.handlers);
  }

  /**
   * Sends it to the dead letters after its last attempt; otherwise frees the event for the retry.
   * @throws WebhookError the error of the response, if the delivery is to be retried
   */
  async #handleFailure(
    error: unknown,
    job: Job,
    { attempt }: DeliveryContext,
    lease: Lease,
  ): Promise<Result> {
    lease.startRenewal();
    const { settings } = this.#deps;
    if (job.kind === 'handler' && settings.handlers.deadLetter)
      this.#info.attemptsLeft = attemptsLeft(this.#delivery, attempt, settings);
    const failure = job.failure(error);
    const sinkFailure = await sendToDeadLetter(error, job, this.#delivery, attempt, settings);
    if (sinkFailure === undefined) return { outcome: 'dead-lettered', error: failure };
    await lease.release();
    throw withOrigin(failure, ...originsOf(failure), ...sinkFailure);
  }
}
