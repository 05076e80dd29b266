import { STATUS, type OutcomeCode } from './answers.ts';
import { DeliveryContext } from './context.ts';
import type { Delivery } from './delivery.ts';
import type { Admitted } from './gate.ts';
import { parked, type Job } from './job.ts';
import { Lease, type LeaseStore } from './lease.ts';
import type { Settings } from './options.ts';
import type { Facts, Verdict } from './reporter.ts';
import { safeLogger } from './safe-logger.ts';
import { describeError } from './scrub.ts';
import { scrubbedError } from './scrubbed-error.ts';
import type { Admission, Store } from './store.ts';
import { replayUntil } from './timestamp.ts';
import { newToken } from './token.ts';
import type { Watch } from './watch.ts';
import { WebhookError } from './webhook-error.ts';

/** What work needs of its receiver. */
export interface Workshop {
  readonly settings: Settings;
  readonly store: LeaseStore & Pick<Store, 'admit'>;
  readonly watch: Watch;
  jobFor(delivery: Delivery): Job | Promise<Job>;
}

/** One authentic delivery, from its admission to its commit. It goes on when its answer was due. */
export class Work implements Admitted {
  /** Settles when all is over; never rejects. */
  readonly done: Promise<Verdict>;
  readonly #delivery: Delivery;
  readonly #facts: Facts;
  readonly #shop: Workshop;
  #context: DeliveryContext | undefined;
  #abortReason: WebhookError | undefined;
  #abandoned = false;
  #lease: Lease | undefined;

  constructor(delivery: Delivery, facts: Facts, shop: Workshop) {
    this.#delivery = delivery;
    this.#facts = facts;
    this.#shop = shop;
    this.done = this.#verdict();
  }

  /** Tells the handler that nobody waits for it any more. */
  abort(reason: WebhookError): void {
    this.#abortReason ??= reason; // the handler may not have begun
    this.#context?.abort(reason);
  }

  /** At shutdown: nothing of it may begin any more, and its lease goes back. */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.abort(
      new WebhookError('shutting-down', 'The receiver is closing, and gave the lease back.'),
    );
    await this.#lease?.release().catch(() => false);
  }

  async #verdict(): Promise<Verdict> {
    try {
      return { outcome: await this.#run() };
    } catch (error) {
      return failure(error);
    }
  }

  async #run(): Promise<OutcomeCode> {
    const found = this.#shop.jobFor(this.#delivery);
    const job = found instanceof Promise ? await found : found;
    const { route, key } = job;
    const { eventName, callId } = route;
    if (eventName !== undefined) this.#facts.eventName = eventName;
    if (callId !== undefined) this.#facts.callId = callId;
    if (route.key !== undefined) this.#facts.key = route.key;

    this.#stayIfWanted();
    const token = newToken();
    const { settings, store, watch } = this.#shop;
    const admission = await store.admit({
      webhookId: this.#delivery.webhookId,
      replayUntil: replayUntil(this.#delivery.timestamp, settings.now(), settings.toleranceSeconds),
      leaseMs: settings.leaseFor,
      token,
      key,
    });
    if (admission.status !== 'admitted') return refused(admission);

    const { attempt } = admission;
    this.#facts.attempt = attempt;
    const context = new DeliveryContext(
      this.#delivery,
      route.payload,
      route.key,
      attempt,
      settings.fieldNames,
    );
    this.#context = context;
    if (this.#abortReason) context.abort(this.#abortReason);
    this.#lease = new Lease(store, watch, { key, token, leaseMs: settings.leaseFor }, () => {
      context.abort(leaseLost());
    });
    try {
      this.#stayIfWanted();
    } catch (error) {
      await this.#lease.release().catch(() => false);
      throw error;
    }
    return await this.#attempt(job, context, this.#lease);
  }

  /** A shutdown may have given up on us while we waited for a schema or for the store. */
  #stayIfWanted(): void {
    if (this.#abandoned)
      throw new WebhookError('shutting-down', 'The receiver closed before the handler began.');
  }

  async #attempt(job: Job, context: DeliveryContext, lease: Lease): Promise<OutcomeCode> {
    const { maxAttempts } = this.#shop.settings;
    let outcome: OutcomeCode;
    try {
      // So many attempts and no end: the process dies in them. (Some margin, as deploys and stores
      // that are slow lose attempts as well.) Don't die once more.
      if (job.mayPark && this.#sink && context.attempt > maxAttempts * 3)
        throw new Error(`none of ${String(context.attempt - 1)} attempts came to an end`);
      outcome = await job.run(context);
    } catch (error) {
      if (!(await this.#park(job, context, error))) {
        await lease.release().catch(() => false); // it runs out by itself
        throw job.failure(error);
      }
      outcome = 'dead-lettered';
    }
    if (await lease.complete()) return outcome;
    throw leaseLost();
  }

  /** Hands a delivery that failed too often to the sink. `false`: it is to be retried. */
  async #park(job: Job, context: DeliveryContext, error: unknown): Promise<boolean> {
    if (!job.mayPark || !this.#sink || context.attempt < this.#shop.settings.maxAttempts)
      return false;
    try {
      await this.#sink(parked('handler-failed', this.#delivery, context.attempt, error, job.route));
      return true;
    } catch (sinkError) {
      safeLogger(this.#delivery.log).error(
        `call-webhooks: the deadLetter sink failed: ${describeError(sinkError, job.route.personal)}`,
      );
      return false;
    }
  }

  get #sink() {
    return this.#shop.settings.handlers.deadLetter;
  }
}

/** What an event comes to that is not ours to run. Stores are written by users, too: trust no answer. */
function refused({ status }: Exclude<Admission, { status: 'admitted' }>): OutcomeCode {
  if (['duplicate', 'in-progress', 'replayed'].includes(status)) return status;
  throw new WebhookError('store-unavailable', 'The answer of the store is none of a store.');
}

const leaseLost = () =>
  new WebhookError(
    'in-progress',
    'The lease ran out while the handler ran: another delivery of the event may be running.',
  );

/** An error as a verdict; one that is not ours is a fault in a hook of the user, or in this package. */
export function failure(error: unknown): Verdict {
  // A hook's own error, of another version or about options, may have a code of no failure.
  const isFailure = (code: string): code is OutcomeCode =>
    Object.hasOwn(STATUS, code) && STATUS[code as OutcomeCode] >= 400;
  if (error instanceof WebhookError && isFailure(error.code)) return { outcome: error.code, error };
  return {
    outcome: 'handler-failed',
    error: scrubbedError('handler-failed', 'Unexpected: ', error),
  };
}
