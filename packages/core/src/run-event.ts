import { type Awaitable, isPending } from './awaitable.ts';
import { toBase64 } from './base64.ts';
import type { DeadLetter, DeadLetterSink } from './dead-letters/dead-letter.ts';
import type { Delivery } from './delivery.ts';
import {
  type DeliveryContent,
  docsUrl,
  type ErrorOrigin,
  originsOf,
  WebhookError,
  withOrigin,
} from './errors.ts';
import type { FieldNames } from './events/call-details.ts';
import { DeliveryContext, type Transactions } from './events/context.ts';
import { parsePayload } from './events/events.ts';
import {
  groupOf,
  ofTenant,
  type OneAtATime,
  type Route,
  type Routes,
  UNHANDLED_ROUTE,
} from './events/route.ts';
import type { RunningDelivery } from './in-flight.ts';
import type { Settings } from './options.ts';
import type { OutcomeCode } from './outcomes.ts';
import type { Queue, QueuedDelivery } from './queue.ts';
import { CHANNELS, type HandlerMessage, traced } from './report/channels.ts';
import { describeError, redactedError } from './report/error-text.ts';
import { deliveryFields, loggedError } from './report/log-line.ts';
import { safeLogger } from './report/logger.ts';
import { withRedactedIds } from './report/ids.ts';
import type { Redact } from './report/redact.ts';
import {
  callErrorHook,
  type DeliveryInfo,
  type ErrorHook,
  failureResult,
  type Result,
} from './report/reporter.ts';
import type { Profile } from './signature/headers.ts';
import { tenantKey } from './store/keys.ts';
import { Lease, type LeaseStore, newToken } from './store/lease.ts';
import type { Admission, Claim } from './store/store.ts';
import { type Deadline, type DeadlineScheduler, exponentialBackoff } from './time.ts';

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

/**
 * The claim of one delivery on its event.
 * @param replayUntil until when the webhook id must be remembered; milliseconds since the epoch
 */
export function createClaim(
  { source, tenant, webhookId, timestamp }: Delivery,
  replayUntil: number,
  { route, key, group }: Pick<Job, 'route' | 'key' | 'group'>,
  { profile, leaseFor, oneAtATime }: Settings,
): Claim {
  const token = newToken();
  // With the profile, retries keep the webhook id but are signed anew. An id has no dot.
  const signed = profile === undefined ? webhookId : `${webhookId}.${String(timestamp)}`;
  return {
    // What is not from the network is no replay, although its webhook id may be known.
    webhookId: source === 'webhook' ? tenantKey(tenant, signed) : `${source}.${token}`,
    replayUntil,
    leaseMs: leaseFor,
    token,
    key,
    // If the function throws for a replay, the replay becomes a dead letter, which has no key.
    isKeyOfBody: route.isKeyOfBody && typeof oneAtATime !== 'function' ? true : undefined,
    group,
  };
}

/**
 * The outcome of a claim that was refused. Stores are written by users as well: check the answer.
 * @throws WebhookError `store-unavailable` for an answer that no store may give
 */
export function refusalOutcome({
  status,
}: Exclude<Admission, { status: 'admitted' }>): OutcomeCode {
  if (status === 'dead-lettered') return 'in-dead-letters';
  if (status !== 'group-busy' && ['duplicate', 'in-progress', 'replayed'].includes(status))
    return status;
  throw new WebhookError('store-unavailable', 'The store returned an invalid answer.');
}

/**
 * Whether so many attempts never ended that the event must be crashing its process. The margin is
 * for attempts that are lost to deploys and slow stores.
 */
export function isCrashLooping(
  job: Job,
  { source }: Delivery,
  attempt: number,
  { handlers, maxAttempts }: Settings,
): boolean {
  // Somebody decided to run a redriven one once more.
  if (job.kind !== 'handler' || !handlers.deadLetter || source === 'redrive') return false;
  return attempt > maxAttempts * 3;
}

/** How the store marks an event that the dead letters have. */
export const markOf = ({ outcome }: Result) => (outcome === 'dead-lettered' ? outcome : undefined);

/** Nobody retries what is redriven, so its first failure is final. */
export const attemptsLeft = (
  { source }: Delivery,
  attempt: number,
  { maxAttempts }: Settings,
): number => (source === 'redrive' ? 0 : Math.max(0, maxAttempts - attempt));

/**
 * Hands a delivery to `deadLetter` after its last attempt.
 * @returns `undefined` if it is there; otherwise the delivery is to be retried, and a list of what
 *   `deadLetter` threw, if it was called
 */
export async function sendToDeadLetter(
  error: unknown,
  job: Job,
  delivery: Delivery,
  attempt: number,
  settings: Settings,
): Promise<ErrorOrigin[] | undefined> {
  const { deadLetter } = settings.handlers;
  if (job.kind !== 'handler' || !deadLetter) return [];
  if (attemptsLeft(delivery, attempt, settings) > 0) return [];
  try {
    const failure = { attempt, error, at: settings.now(), route: job.route };
    await deadLetter(toDeadLetter('handler-failed', delivery, failure));
    return undefined;
  } catch (sinkError) {
    const { sensitiveData } = job.route;
    const { tenant, webhookId } = delivery;
    const { text, err } = loggedError(sinkError, settings.handlers.redact, sensitiveData);
    safeLogger(delivery.log).error(
      {
        ...deliveryFields({ tenant, webhookId, ...job.route, attempt }),
        err,
        docs: docsUrl('outcomes.md#dead-lettered'),
      },
      `call-webhooks: The deadLetter sink failed: ${text}`,
    );
    return [{ source: 'dead-letter', error: sinkError, sensitiveData }];
  }
}

/**
 * Whether a transaction with `completeIn` was committed. Only the store knows: a handler may ignore
 * that its transaction was rolled back, or fail after the commit, or lose the answer to it.
 * @throws WebhookError `in-progress` if the lease was lost, `store-unavailable` if the store fails
 */
export async function wasCommitted(transactions: Transactions, lease: Lease): Promise<boolean> {
  if (transactions.mayBeDone) {
    const end = await lease.transactionEnd();
    if (end !== 'lost') return end === 'committed';
  } else if (!transactions.leaseLost) return false;
  throw leaseLost();
}

export const leaseLost = () =>
  new WebhookError(
    'in-progress',
    'The lease was lost while the handler ran: another delivery of the event may be running.',
  );

/** The part of `ackWithin` in which a delivery may wait: the handler and the store need the rest. */
const WAITING_SHARE = 0.9;
/** Milliseconds between two claims, as long as nobody says that the group is free. */
const BACKOFF = { initialDelay: 50, maxDelay: 500 };

type Waited = Pick<DeliveryInfo, 'waitMs'>;
type ClaimStore = Pick<LeaseStore, 'admit'>;

export interface GroupTurnsOptions {
  readonly scheduler: DeadlineScheduler;
  /** Milliseconds. */
  readonly ackWithin: number;
  /** Whether a delivery may wake another one. On Workers, requests can't. */
  readonly wakes: boolean;
  /** From 0 to 1, for the backoff; `Math.random` by default. */
  readonly random?: (() => number) | undefined;
}

/**
 * Lets deliveries wait until no other event of their group runs: here, where they are woken, or in
 * another process, for which the claim is repeated.
 */
export class GroupTurns {
  readonly #scheduler: DeadlineScheduler;
  readonly #waitingMs: number;
  readonly #wakes: boolean;
  readonly #delay: (attempt: number) => number;
  /** By group, those that came first in front. */
  readonly #waiting = new Map<string, Set<Deadline>>();
  #closing = false;

  constructor({ scheduler, ackWithin, wakes, random }: GroupTurnsOptions) {
    this.#scheduler = scheduler;
    this.#waitingMs = ackWithin * WAITING_SHARE;
    this.#wakes = wakes;
    this.#delay = exponentialBackoff(BACKOFF, random);
  }

  /**
   * Makes a claim, and makes it again while its group is busy.
   * @param startedAt `performance.now()` when the request arrived
   * @param info gets the `waitMs`
   * @throws WebhookError `in-progress` if the group stays busy, `shutting-down` once `close` was called
   */
  admit(claim: Claim, store: ClaimStore, startedAt: number, info: Waited): Awaitable<Admission> {
    const { group } = claim;
    const admission = store.admit(claim);
    if (group === undefined) return admission;
    const waitIfBusy = (answer: Admission) =>
      answer.status === 'group-busy' ? this.#wait(claim, group, store, startedAt, info) : answer;
    return isPending(admission) ? admission.then(waitIfBusy) : waitIfBusy(admission);
  }

  async #wait(
    claim: Claim,
    group: string,
    store: ClaimStore,
    startedAt: number,
    info: Waited,
  ): Promise<Admission> {
    const until = startedAt + this.#waitingMs;
    for (let attempt = 1; performance.now() < until; attempt++) {
      const from = performance.now();
      await this.#pause(group, Math.min(until, from + this.#delay(attempt)));
      info.waitMs = (info.waitMs ?? 0) + performance.now() - from;
      if (this.#closing)
        throw new WebhookError(
          'shutting-down',
          'The receiver closed while the delivery waited for another event of its group (oneAtATime).',
        );
      const admission = await store.admit(claim);
      if (admission.status !== 'group-busy') return admission;
    }
    throw new WebhookError(
      'in-progress',
      `Another event of its group (oneAtATime) was still being handled after ${String(Math.round(this.#waitingMs))} ms. The delivery used up no attempt.`,
    );
  }

  /** Wakes the delivery that waits longest for this group, if there is one. */
  freed(group: string): void {
    if (!this.#wakes) return;
    for (const waiter of this.#waiting.get(group) ?? []) {
      waiter.onReached();
      return;
    }
  }

  /** Ends all waits. */
  close(): void {
    this.#closing = true;
    for (const waiters of [...this.#waiting.values()])
      for (const waiter of [...waiters]) waiter.onReached();
  }

  /** @param at `performance.now()` */
  #pause(group: string, at: number): Promise<void> {
    if (this.#closing) return Promise.resolve();
    const waiters = this.#waiting.get(group) ?? new Set();
    this.#waiting.set(group, waiters);
    return new Promise((resolve) => {
      const waiter: Deadline = {
        place: 0,
        at,
        onReached: () => {
          this.#scheduler.delete(waiter);
          waiters.delete(waiter);
          if (waiters.size === 0) this.#waiting.delete(group);
          resolve();
        },
      };
      waiters.add(waiter);
      this.#scheduler.add(waiter);
    });
  }
}

/** What to do with one delivery. */
export interface Job {
  readonly route: Route;
  /** The key to lease, or `undefined` if there is nothing to protect. */
  readonly key: string | undefined;
  /** The group of which one event runs at a time. */
  readonly group?: string | undefined;
  /** What its run does. Only a failed `handler` goes to `deadLetter`, after `maxAttempts`. */
  readonly kind: 'handler' | 'enqueue' | 'dead-letter';
  run(context: DeliveryContext): Awaitable<Result>;
  /** Makes the response's error out of what `run` threw. */
  failure(error: unknown): WebhookError;
}

/** What `createJob` needs: parts of a receiver, and some of its checked options. */
export interface JobDependencies {
  readonly routes: Routes;
  readonly scheduler: DeadlineScheduler;
  readonly settings: {
    readonly handlers: { readonly deadLetter?: DeadLetterSink | undefined };
    readonly queue: Queue | undefined;
    readonly oneAtATime: OneAtATime | undefined;
    readonly profile: Profile | undefined;
    readonly fieldNames: FieldNames;
    /** Milliseconds for one call of the queue. */
    readonly storeTimeout: number;
    /** Milliseconds since the epoch. */
    readonly now: () => number;
  };
}

/**
 * The job for a delivery: run its handler, enqueue it, or, for an invalid payload, hand it to the
 * dead-letter sink.
 * @throws WebhookError `invalid-payload` without a dead-letter sink
 */
export async function createJob(delivery: Delivery, deps: JobDependencies): Promise<Job> {
  const { handlers, queue, oneAtATime, profile } = deps.settings;
  try {
    const own = ofTenant(await deps.routes.find(delivery.rawBody), delivery.tenant);
    const route = profile === undefined ? own : withKey(own, delivery);
    if (queue) return queueJob(route, delivery, queue, deps);
    const named = groupOf(oneAtATime, route);
    const group = named === undefined ? undefined : tenantKey(delivery.tenant, named);
    // A group is leased together with a key. Without one of its own, the event gets its delivery's.
    if (group !== undefined) return new HandlerJob(route, withKey(route, delivery).key, group);
    return new HandlerJob(route, route.handle && route.key);
  } catch (error) {
    if (handlers.deadLetter && error instanceof WebhookError && error.code === 'invalid-payload')
      return deadLetterJob(error, delivery, handlers.deadLetter, deps.settings);
    throw error;
  }
}

/** With Standard Webhooks, the webhook id identifies an event that has no key of its own. */
const withKey = (route: Route, { tenant, webhookId }: Delivery): Route =>
  route.key === undefined ? { ...route, key: tenantKey(tenant, `webhook-id:${webhookId}`) } : route;

const HANDLED: Result = { outcome: 'handled' };
const IGNORED: Result = { outcome: 'ignored' };

/** Runs the user's handler. */
class HandlerJob implements Job {
  readonly route: Route;
  readonly key: string | undefined;
  readonly group: string | undefined;
  readonly kind = 'handler';

  constructor(route: Route, key: string | undefined, group?: string) {
    this.route = route;
    this.key = key;
    this.group = group;
  }

  run(context: DeliveryContext): Awaitable<Result> {
    const running = runHandler(this.route, context);
    const result = this.route.outcome === 'handled' ? HANDLED : IGNORED;
    // A promise of our own, as `await` would make: the `then` of a thenable need not return one.
    return isPending(running) ? Promise.resolve(running).then(() => result) : result;
  }

  failure(error: unknown): WebhookError {
    return handlerFailed(error, this.route.sensitiveData);
  }
}

/** Enqueues the raw bytes. A worker runs the handler. */
function queueJob(
  route: Route,
  delivery: Delivery,
  queue: Queue,
  { scheduler, settings: { storeTimeout } }: JobDependencies,
): Job {
  const { tenant, webhookId, timestamp, receivedAt, rawBody } = delivery;
  const { key, eventName } = route;
  const queued: QueuedDelivery = {
    ...(tenant !== undefined && { tenant }),
    webhookId,
    timestamp,
    receivedAt,
    ...(key !== undefined && { key }),
    ...(eventName !== undefined && { eventName }),
    body: toBase64(rawBody),
  };
  const failure = (error: unknown) => {
    const { sensitiveData } = route;
    const message = `The queue did not accept the delivery: ${describeError(error, sensitiveData)}`;
    const failed = new WebhookError('store-unavailable', message);
    return withOrigin(failed, { source: 'queue', error, sensitiveData });
  };
  return {
    route,
    key,
    kind: 'enqueue',
    async run(): Promise<Result> {
      const channel = CHANNELS.enqueue;
      const enqueue = () => scheduler.withTimeout(storeTimeout, queue.enqueue(queued));
      if (channel?.hasSubscribers !== true) await enqueue();
      else await traced(channel, { delivery: queued }, enqueue, failure);
      return { outcome: 'queued' };
    },
    failure,
  };
}

/** Hands a payload that can never be handled to the dead-letter sink. */
function deadLetterJob(
  error: WebhookError,
  delivery: Delivery,
  deadLetter: DeadLetterSink,
  { fieldNames, now }: JobDependencies['settings'],
): Job {
  return {
    route: { ...UNHANDLED_ROUTE, eventName: error.eventName },
    key: undefined,
    kind: 'dead-letter',
    async run(): Promise<Result> {
      await deadLetter(toDeadLetter('invalid-payload', delivery, { attempt: 1, error, at: now() }));
      return { outcome: 'dead-lettered', error };
    },
    failure(sinkError) {
      const { eventName, issues } = error;
      const { text, origin } = sinkFailure(sinkError, delivery.rawBody, fieldNames);
      const message = `${error.message} The deadLetter sink failed as well: ${text}`;
      const failed = new WebhookError('invalid-payload', message, { eventName, issues });
      return withOrigin(failed, ...originsOf(error), origin);
    },
  };
}

/** A sink's error may quote the body. If that cannot be parsed, it cannot be redacted either. */
export function sinkFailure(
  error: unknown,
  rawBody: Uint8Array,
  fieldNames: FieldNames,
): { text: string; origin: ErrorOrigin } {
  const source = 'dead-letter';
  let sensitiveData: DeliveryContent;
  try {
    sensitiveData = { body: parsePayload(rawBody), fieldNames };
  } catch {
    const text = 'its error may quote the body and is withheld';
    return { text, origin: { source, error, isWithheld: true } };
  }
  return { text: describeError(error, sensitiveData), origin: { source, error, sensitiveData } };
}

/** Runs the handler of a route, if it has one, within `call-webhooks:handler`. */
export function runHandler(route: Route, context: DeliveryContext): Awaitable<unknown> {
  const { handle, payload } = route;
  const channel = CHANNELS.handler;
  if (!handle || channel?.hasSubscribers !== true) return handle?.(payload, context);
  const { tenant, webhookId, attempt, source } = context;
  const { eventName, callId, key } = route;
  const message: HandlerMessage = withRedactedIds({
    ...{ webhookId, eventName, callId, key, attempt, source },
    ...(tenant !== undefined && { tenant }),
  });
  const failure = (error: unknown) => handlerFailed(error, route.sensitiveData);
  return traced(channel, message, () => handle(payload, context), failure);
}

/** @param sensitiveData the content of the delivery, which is removed from the message */
export function handlerFailed(
  error: unknown,
  sensitiveData: DeliveryContent | undefined,
): WebhookError {
  const failure = redactedError('handler-failed', 'The handler failed: ', error, sensitiveData);
  return withOrigin(failure, { source: 'handler', error, sensitiveData });
}

/** What a dead letter is made of besides its delivery. */
interface LastFailure {
  attempt: number;
  error: unknown;
  /** Milliseconds since the epoch. */
  at: number;
  /** Absent if the payload has no handler. */
  route?: Route | undefined;
}

/** A delivery that is given up, for the dead-letter sink. */
export function toDeadLetter(
  reason: DeadLetter['reason'],
  delivery: Delivery,
  { attempt, error, at, route }: LastFailure,
): DeadLetter {
  const invalidEvent = error instanceof WebhookError ? error.eventName : undefined;
  const { eventName = invalidEvent, callId, key } = route ?? {};
  const isOurs = error instanceof WebhookError && !route;
  return {
    ...(delivery.letterId !== undefined && { id: delivery.letterId }),
    reason,
    ...(delivery.tenant !== undefined && { tenant: delivery.tenant }),
    rawBody: delivery.rawBody,
    webhookId: delivery.webhookId,
    timestamp: new Date(delivery.timestamp * 1000),
    ...(eventName !== undefined && { eventName }),
    ...(callId !== undefined && { callId }),
    ...(key !== undefined && { key }),
    attempt,
    failedAt: new Date(at),
    source: delivery.source,
    error,
    errorText: isOurs ? error.message : describeError(error, route?.sensitiveData),
  };
}

/** The failure of a handler that succeeded, but whose transaction was rolled back. */
export const rolledBack = () =>
  new Error('The handler succeeded, but the transaction of completeIn was rolled back.');

/** Something went wrong with an event that is done. */
export interface OfDone {
  readonly error: unknown;
  /** What the error means for the event. */
  readonly kind: 'failed-after-commit' | 'late-transaction';
  readonly route: Route;
  readonly delivery: Delivery;
  readonly attempt: number;
  /** Whether the service got its response before. */
  readonly late: boolean;
}

const KINDS = {
  'failed-after-commit': {
    level: 'warn',
    message: 'The handler failed after its transaction had been committed, so the event is done',
  },
  // Nobody else may hear of it: the handler does not wait for this error.
  'late-transaction': {
    level: 'error',
    message:
      'The event is done, but a transaction of its handler called completeIn too late and was refused, so what it wrote is lost',
  },
} as const;

/** The event is done, so its outcome does not report this error. */
export function reportOfDone(
  { error, kind, route, delivery, attempt, late }: OfDone,
  { redact, onError }: { redact?: Redact | undefined; onError?: ErrorHook | undefined },
): void {
  const { tenant, webhookId, log, source } = delivery;
  const { level, message } = KINDS[kind];
  const { text, err } = loggedError(error, redact, route.sensitiveData);
  safeLogger(log)[level](
    {
      ...deliveryFields({ tenant, webhookId, ...route, attempt, source }),
      retriedBy: 'nobody',
      err,
      docs: docsUrl('exactly-once.md#your-own-database'),
    },
    `call-webhooks: ${message}: ${text}`,
  );
  if (!onError) return;
  const queued = source === 'queue';
  const context = { ...route, tenant, webhookId, attempt, attemptsLeft: 0, late, queued };
  callErrorHook(onError, [{ source: 'handler', error }], context);
}
