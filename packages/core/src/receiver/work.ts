import { isPending } from '../awaitable.ts';
import { DeliveryContext } from '../dispatch/context.ts';
import type { Delivery } from '../dispatch/delivery.ts';
import type { Job } from '../dispatch/job.ts';
import type { Route } from '../dispatch/routes.ts';
import type { OutcomeCode } from '../outcome/outcomes.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { failure } from '../reporting/failure.ts';
import type { Facts, Verdict } from '../reporting/reporter.ts';
import { replayUntil } from '../signature/timestamp.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { Lease } from '../store/lease.ts';
import type { Admission, Claim } from '../store/store.ts';
import { newToken } from '../store/token.ts';
import type { Watch } from '../time/watch.ts';
import { runOnce } from './attempt.ts';
import type { Admitted } from './gate.ts';
import type { Settings } from './options.ts';

/** What work needs of its receiver. */
export interface Workshop {
  readonly settings: Settings;
  readonly store: BoundedStore;
  readonly watch: Watch;
  jobFor(delivery: Delivery): Job | Promise<Job>;
}

/** One authentic delivery, from its admission to its commit. It goes on when its answer was due. */
export class Work implements Admitted {
  /** Settles when all is over; never rejects. */
  readonly done: Promise<Verdict>;
  /** There once all is over: at once, where neither store nor handler makes anybody wait. */
  verdict: Verdict | undefined;
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
    this.done = this.#process();
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
    await this.#lease?.giveBack();
  }

  /** Waits for nothing that is there already: a quick delivery is over when this returns. */
  async #process(): Promise<Verdict> {
    try {
      const delivery = this.#delivery;
      const { settings, store } = this.#shop;
      const found = this.#shop.jobFor(delivery);
      const job = found instanceof Promise ? await found : found;
      this.#note(job.route);
      this.#stayIfWanted();
      const claim = this.#claim(job.key);
      const claimed = store.admit(claim);
      const admission = isPending(claimed) ? await claimed : claimed;
      if (admission.status !== 'admitted') return this.#over({ outcome: refused(admission) });

      const context = this.#open(job.route, admission.attempt);
      const lease = this.#take(claim, context);
      if (this.#abandoned) await lease.giveBack();
      this.#stayIfWanted();
      const running = runOnce({ job, delivery, context, lease, settings });
      const outcome = isPending(running) ? await running : running;
      const completed = lease.complete();
      if (!(isPending(completed) ? await completed : completed)) throw leaseLost();
      return this.#over({ outcome });
    } catch (error) {
      return this.#over(failure(error));
    }
  }

  #over(verdict: Verdict): Verdict {
    return (this.verdict = verdict);
  }

  #note({ eventName, callId, key }: Route): void {
    if (eventName !== undefined) this.#facts.eventName = eventName;
    if (callId !== undefined) this.#facts.callId = callId;
    if (key !== undefined) this.#facts.key = key;
  }

  /** A shutdown may have given up on us while we waited for a schema or for the store. */
  #stayIfWanted(): void {
    if (this.#abandoned)
      throw new WebhookError('shutting-down', 'The receiver closed before the handler began.');
  }

  #claim(key: string | undefined): Claim {
    const { webhookId, timestamp } = this.#delivery;
    const { now, toleranceSeconds, leaseFor } = this.#shop.settings;
    return {
      webhookId,
      replayUntil: replayUntil(timestamp, now(), toleranceSeconds),
      leaseMs: leaseFor,
      token: newToken(),
      key,
    };
  }

  #open({ payload, key }: Route, attempt: number): DeliveryContext {
    this.#facts.attempt = attempt;
    const { fieldNames } = this.#shop.settings;
    const context = new DeliveryContext(this.#delivery, payload, key, attempt, fieldNames);
    this.#context = context;
    if (this.#abortReason) context.abort(this.#abortReason);
    return context;
  }

  #take(claim: Claim, context: DeliveryContext): Lease {
    const { store, watch } = this.#shop;
    const lease = new Lease(store, watch, claim, () => {
      context.abort(leaseLost());
    });
    this.#lease = lease;
    return lease;
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
