import { isPending, type Awaitable } from '../awaitable.ts';
import { DeliveryContext, type Delivery } from '../dispatch/context.ts';
import { createJob, type Job, type JobDependencies } from '../dispatch/job.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { failureResult, type DeliveryInfo, type Result } from '../reporting/reporter.ts';
import { Lease, type LeaseStore } from '../store/lease.ts';
import type { Claim } from '../store/store.ts';
import { createClaim, refusalOutcome } from './claim.ts';
import type { RunningDelivery } from './concurrency-limiter.ts';
import { isCrashLooping, sendToDeadLetter } from './dead-letters.ts';
import type { Settings } from './options.ts';
import { leaseLost, logFailureAfterCommit, rolledBack, wasCommitted } from './transaction-end.ts';

/** What processing needs from the receiver. */
export interface ProcessorDependencies extends JobDependencies {
  readonly settings: Settings;
  readonly store: LeaseStore;
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

  start(): void {
    this.done = this.#process();
  }

  /** Tells the handler that its result is no longer waited for. */
  abort(reason: WebhookError): void {
    this.#abortReason ??= reason; // the handler may not have started
    this.#context?.abort(reason);
  }

  /** At shutdown: starts nothing any more, and releases the lease. */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.abort(new WebhookError('shutting-down', 'The receiver is closing.'));
    await this.#lease?.release();
  }

  /** Awaits only what is pending: a quick delivery has ended when this returns. */
  async #process(): Promise<Result> {
    try {
      const pendingJob = createJob(this.#delivery, this.#deps);
      const job = pendingJob instanceof Promise ? await pendingJob : pendingJob;
      const { eventName, callId, key } = job.route;
      if (eventName !== undefined) this.#info.eventName = eventName;
      if (callId !== undefined) this.#info.callId = callId;
      if (key !== undefined) this.#info.key = key;

      this.#throwIfAbandoned();
      const claim = createClaim(this.#delivery, this.#replayUntil, job.key, this.#deps.settings);
      const pendingAdmission = this.#deps.store.admit(claim);
      const admission = isPending(pendingAdmission) ? await pendingAdmission : pendingAdmission;
      if (admission.status !== 'admitted')
        return this.#finish({ outcome: refusalOutcome(admission) });

      const context = this.#createContext(job, admission.attempt);
      const lease = this.#createLease(claim, context);
      if (this.#abandoned) await lease.release();
      this.#throwIfAbandoned();
      const running = this.#run(job, context, lease);
      const result = isPending(running) ? await running : running;
      const completed = lease.complete(markOf(result));
      if (!(isPending(completed) ? await completed : completed)) throw leaseLost();
      return this.#finish(result);
    } catch (error) {
      if (error instanceof WebhookError && error.eventName !== undefined)
        this.#info.eventName = error.eventName;
      return this.#finish(failureResult(error));
    }
  }

  #finish(result: Result): Result {
    return (this.result = result);
  }

  /** The receiver may have been closed while a schema or the store was awaited. */
  #throwIfAbandoned(): void {
    if (this.#abandoned)
      throw new WebhookError('shutting-down', 'The receiver closed before the handler started.');
  }

  #createContext({ route }: Job, attempt: number): DeliveryContext {
    this.#info.attempt = attempt;
    const { settings } = this.#deps;
    const context = new DeliveryContext(this.#delivery, route, attempt, settings.fieldNames);
    this.#context = context;
    if (this.#abortReason) context.abort(this.#abortReason);
    return context;
  }

  #createLease(claim: Claim, context: DeliveryContext): Lease {
    const { store, scheduler } = this.#deps;
    const onLost = () => context.abort(leaseLost());
    this.#lease = new Lease(store, scheduler, claim, onLost);
    context.completable = this.#lease;
    return this.#lease;
  }

  /** @throws WebhookError the error of the response, if the delivery is to be retried */
  #run(job: Job, context: DeliveryContext, lease: Lease): Awaitable<Result> {
    try {
      if (isCrashLooping(job, context.attempt, this.#deps.settings))
        throw new Error(`None of ${String(context.attempt - 1)} attempts ended.`);
      const running = job.run(context);
      if (!isPending(running)) return this.#onSuccess(running, job, context, lease);
      lease.startRenewal();
      return running.then(
        (result) => this.#onSuccess(result, job, context, lease),
        (error: unknown) => this.#onFailure(error, job, context, lease),
      );
    } catch (error) {
      return this.#onFailure(error, job, context, lease);
    }
  }

  /** A handler that called `completeIn` has succeeded only if its transaction was committed. */
  #onSuccess(result: Result, job: Job, context: DeliveryContext, lease: Lease): Awaitable<Result> {
    context.end();
    if (!context.transactions) return result;
    return wasCommitted(context, lease).then((committed) =>
      committed ? result : this.#handleFailure(rolledBack(), job, context, lease),
    );
  }

  /** A handler that failed after its transaction was committed has succeeded all the same. */
  async #onFailure(
    error: unknown,
    job: Job,
    context: DeliveryContext,
    lease: Lease,
  ): Promise<Result> {
    context.end();
    if (context.transactions && (await wasCommitted(context, lease))) {
      logFailureAfterCommit(error, job, this.#delivery, context.attempt);
      return { outcome: job.route.outcome };
    }
    return this.#handleFailure(error, job, context, lease);
  }

  /** Sends it to the dead letters after its last attempt; otherwise frees the event for the retry. */
  async #handleFailure(
    error: unknown,
    job: Job,
    context: DeliveryContext,
    lease: Lease,
  ): Promise<Result> {
    lease.startRenewal();
    const failure = job.failure(error);
    const { settings } = this.#deps;
    if (await sendToDeadLetter(error, job, this.#delivery, context.attempt, settings))
      return { outcome: 'dead-lettered', error: failure };
    await lease.release();
    throw failure;
  }
}

const markOf = ({ outcome }: Result) => (outcome === 'dead-lettered' ? outcome : undefined);
