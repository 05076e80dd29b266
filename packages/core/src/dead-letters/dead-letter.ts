import { defined } from '../defined.ts';
import type { Delivery, Route } from '../delivery.ts';
import type { DeliverySource } from '../outcomes.ts';
import type { ExpiringLetters } from '../removal.ts';
import { createRedactor } from '../report/redact.ts';
import { errorText, redactedCopy, shortFrames } from '../report/error-text.ts';

/** A delivery that failed for good, with everything that is needed to run it again. */
export interface DeadLetter {
  /** The id of the stored letter, if this letter was redriven and failed again. */
  id?: string;
  /**
   * Why the event was given up: `handler-failed`, its handler failed `maxAttempts` times (in a queue
   * worker: `maxRuns` times), or `invalid-payload`, its payload can never be handled.
   */
  reason: 'handler-failed' | 'invalid-payload';
  /** The tenant that the event belongs to. It is absent in a receiver without the option `tenant`. */
  tenant?: string;
  /** The raw body, byte for byte. It may contain personal data. */
  rawBody: Uint8Array;
  /** The webhook id of the last delivery of the event. */
  webhookId: string;
  /** The time at which the service signed that delivery. */
  timestamp: Date;
  /**
   * The name of the event, such as `call:completed`. It is absent if the body could not be parsed, and
   * for a custom payload.
   */
  eventName?: string;
  /** The id of the call, if the body has one. */
  callId?: string;
  /** The idempotency key of the event, if it has one. */
  key?: string;
  /** The number of attempts that were made. */
  attempt: number;
  /** When the last attempt failed. A redrive that fails moves it; `history[0].at` of a stored letter stays. */
  failedAt: Date;
  /** Where the delivery of the last attempt came from. */
  source: DeliverySource;
  /**
   * What the handler threw, unchanged, or a `WebhookError`. It may contain personal data and secrets.
   */
  error: unknown;
  /**
   * The error as text. Personal data and secrets are removed as far as the standard redaction finds
   * them.
   */
  errorText: string;
  /**
   * The first frames of the error's stack, redacted: at most 8 lines and 1,000 characters. It is absent
   * for an invalid payload, and if what was thrown has no stack.
   */
  errorStack?: string;
}

/**
 * Stores a dead letter. The letter must be durable when the promise resolves, because the delivery is
 * acknowledged then. If it throws, or the event cannot be marked as dead-lettered, the delivery is
 * retried.
 */
export type DeadLetterSink = (deadLetter: DeadLetter) => unknown;

/** The part of a dead-letter store that the option `deadLetter` uses. */
export interface DeadLetterStore extends ExpiringLetters {
  put(letter: DeadLetter): Promise<void>;
  /**
   * Resolves if a letter could be stored now. It writes something, and removes it. `receiver.health()`
   * uses it.
   */
  ping?(): Promise<unknown>;
}

/** One failure of a dead letter: the one that put it here, or a redrive. */
export interface DeadLetterFailure {
  at: Date;
  source: DeliverySource;
  attempt: number;
  /** Without personal data and secrets. */
  error: string;
  /** The first frames of the error's stack, redacted: at most 8 lines. Absent if they are not known. */
  stack?: string;
}

/** A dead letter in a list. Lists do not read bodies. */
export interface ListedDeadLetter extends Omit<
  DeadLetter,
  'id' | 'rawBody' | 'error' | 'errorText' | 'errorStack'
> {
  /** The same for all letters of one event. */
  id: string;
  /** The length of the raw body. */
  bytes: number;
  /** The last error as text, without personal data and secrets. */
  error: string;
  /** The first frames of the last error's stack, redacted. Absent if they are not known. */
  stack?: string;
  /**
   * Its failures, oldest first: the first one, which made it a dead letter (of a dead job: its first failed run), and
   * at most the last 49.
   */
  history: DeadLetterFailure[];
  /** The time until which a redrive has claimed it. Absent if it is free. */
  claimedUntil?: Date;
}

/** A dead letter as a store keeps it. */
export interface StoredDeadLetter extends ListedDeadLetter {
  /** The raw body, byte for byte. It may contain personal data. */
  rawBody: Uint8Array;
}

/** Selects dead letters. A letter has to meet every given condition. */
export interface DeadLetterFilter {
  eventName?: string | undefined;
  reason?: DeadLetter['reason'] | undefined;
  /** Only letters of this tenant. Letters without a tenant are left out. */
  tenant?: string | undefined;
  /** Only letters whose last failure was at this time or later. */
  since?: Date | undefined;
  /** Only letters whose last failure was before this time. */
  until?: Date | undefined;
}

/** A filter, and the page of the list to return. */
export interface DeadLetterQuery extends DeadLetterFilter {
  /** The maximum number of letters on a page: 1 to 1,000, by default 100. */
  limit?: number | undefined;
  /** The `cursor` of the previous page; the first page by default. */
  cursor?: string | undefined;
}

/** A page of the list. */
export interface DeadLetterPage {
  letters: ListedDeadLetter[];
  /** Absent on the last page. */
  cursor?: string;
}

/** Dead letters that can be read and removed: those of a store, or the dead jobs of a queue. */
export interface DeadLetterList {
  /**
   * Returns a page of letters, oldest failure first.
   * @throws WebhookError `invalid-options`, or `invalid-cursor` for a cursor that this list never
   *   returned
   */
  list(query?: DeadLetterQuery): Promise<DeadLetterPage>;
  get(id: string): Promise<StoredDeadLetter | undefined>;
  /** Removes a letter permanently. @returns `false` if there is none with this id */
  remove(id: string): Promise<boolean>;
  count(filter?: DeadLetterFilter): Promise<number>;
}

/** The dead jobs of a queue. Requeued jobs are run by its workers. */
export interface DeadJobs extends DeadLetterList {
  /**
   * Returns a job to the queue, where it is run once more. If this run fails, the job is dead again.
   * @returns `false` if there is no dead job with this id, for instance because another operator
   *   requeued it
   */
  requeue(id: string): Promise<boolean>;
}

/**
 * Keeps dead letters until they are redriven or removed. Every call is atomic.
 *
 * A redrive claims a letter, runs it, and then either settles the claim or returns the letter
 * (`giveBack`). Tokens fence, as in a `Store`: a claim that ran out, or that a newer failure of the
 * event ended, changes nothing any more.
 */
export interface DeadLetters extends DeadLetterList, DeadLetterStore {
  /**
   * Keeps a letter durably. A letter of the same event is replaced: its history goes on, and a claim
   * on it ends. Rejects if the letter was not kept.
   */
  put(letter: DeadLetter): Promise<void>;
  /**
   * Takes a letter for one redrive.
   * @returns `undefined` if there is none with this id, or if another claim holds it
   */
  claim(id: string, claim: DeadLetterClaim): Promise<StoredDeadLetter | undefined>;
  /**
   * Renews the claim, so that it ends `leaseMs` milliseconds from now. @returns `false` if it was lost
   */
  extend(id: string, token: string, leaseMs: number): Promise<boolean>;
  /** Removes a letter that was handled. @returns `false` if the claim was lost */
  settle(id: string, token: string): Promise<boolean>;
  /**
   * Ends the claim and keeps the letter, with its new failure if there is one.
   * @returns `false` if the claim was lost
   */
  giveBack(id: string, token: string, failure?: DeadLetterFailure): Promise<boolean>;
}

/** The claim of one redrive on a dead letter. */
export interface DeadLetterClaim {
  /** A new token for each claim. A second call with the same token is a retry of the same claim. */
  token: string;
  /** How long the claim lasts unless it is extended, in milliseconds. */
  leaseMs: number;
}

/** What a dead letter is made of besides its delivery. */
interface LastFailure {
  attempt: number;
  error: unknown;
  /** Milliseconds since the epoch. */
  at: number;
  route: Route;
}

/** A delivery that is given up, for the dead-letter sink. */
export function toDeadLetter(
  delivery: Delivery,
  { attempt, error, at, route }: LastFailure,
): DeadLetter {
  const { eventName, callId, key, invalid, sensitiveData } = route;
  const { letterId: id, tenant, rawBody, webhookId, timestamp, source } = delivery;
  const isInvalid = error === invalid && invalid !== undefined;
  const copy = redactedCopy(error, createRedactor('standard', sensitiveData));
  return {
    reason: isInvalid ? 'invalid-payload' : 'handler-failed',
    rawBody: new Uint8Array(rawBody), // a sink that changes it must not change what a retry keeps
    webhookId,
    attempt,
    source,
    error,
    ...defined({ id, tenant, eventName, callId, key }),
    timestamp: new Date(timestamp * 1000),
    failedAt: new Date(at),
    errorText: isInvalid ? invalid.message : errorText(copy),
    ...defined({ errorStack: isInvalid ? undefined : shortFrames(copy) }),
  };
}
