import { defined } from '../defined.ts';
import type { Delivery, Route } from '../delivery.ts';
import type { DeliverySource } from '../outcomes.ts';
import type { ExpiringLetters } from '../removal.ts';
import { createRedactor } from '../report/redact.ts';
import { errorText, redactedCopy, shortFrames } from '../report/error-text.ts';

/** A delivery that failed for good, with everything that is needed to run it again. */
export interface DeadLetter {
  /** The id of the stored letter, if this is a letter that was redriven and failed again. */
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
 * Stores dead letters, durably once it resolves: the delivery is acknowledged then. If it throws, or
 * the event cannot be marked as dead-lettered, the delivery is retried.
 */
export type DeadLetterSink = (deadLetter: DeadLetter) => unknown;

/** What `deadLetter` uses of a store of dead letters. */
export interface DeadLetterStore extends ExpiringLetters {
  put(letter: DeadLetter): Promise<void>;
  /** Resolves when a letter could be kept, for `receiver.health()`: it writes something, and removes it. */
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

/** A dead letter in a list, which reads no bodies. */
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
  /** Until when a redrive has it. Absent if it is free. */
  claimedUntil?: Date;
}

/** A dead letter as a store keeps it. */
export interface StoredDeadLetter extends ListedDeadLetter {
  /** The raw body, byte for byte. It may contain personal data. */
  rawBody: Uint8Array;
}

/** Which dead letters are meant. Every condition that is given has to hold. */
export interface DeadLetterFilter {
  eventName?: string | undefined;
  reason?: DeadLetter['reason'] | undefined;
  /** Only the letters of this tenant, and none without one. */
  tenant?: string | undefined;
  /** Failed last at this time or later. */
  since?: Date | undefined;
  /** Failed last before this time. */
  until?: Date | undefined;
}

/** A filter, and which part of the list is wanted. */
export interface DeadLetterQuery extends DeadLetterFilter {
  /** How many letters a page has at most: 1 to 1,000; 100 by default. */
  limit?: number | undefined;
  /** The `cursor` of the page before. */
  cursor?: string | undefined;
}

/** A part of the list. */
export interface DeadLetterPage {
  letters: ListedDeadLetter[];
  /** Absent on the last page. */
  cursor?: string;
}

/** Dead letters that can be read and removed: those of a store, or the dead jobs of a queue. */
export interface DeadLetterList {
  /**
   * The letters that failed longest ago come first.
   * @throws WebhookError `invalid-options`, or `invalid-cursor` for a cursor that no list gave
   */
  list(query?: DeadLetterQuery): Promise<DeadLetterPage>;
  get(id: string): Promise<StoredDeadLetter | undefined>;
  /** Removes a letter for good. @returns `false` if there is none with this id */
  remove(id: string): Promise<boolean>;
  count(filter?: DeadLetterFilter): Promise<number>;
}

/** The dead jobs of a queue. Its workers run what is requeued. */
export interface DeadJobs extends DeadLetterList {
  /**
   * Gives a job back to the queue, to be run once more. If this run fails, the job is dead again.
   * @returns `false` if there is no dead job with this id, for instance because another operator took it
   */
  requeue(id: string): Promise<boolean>;
}

/**
 * Keeps dead letters until they are redriven or removed. Every call is atomic.
 *
 * A redrive claims a letter, runs it, and then settles it or gives it back. Tokens fence, as in a
 * `Store`: a claim that ran out, or that a newer failure of the event ended, changes nothing any more.
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
  /** Makes the claim end `leaseMs` milliseconds from now. @returns `false` if it was lost */
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
  /** New for each claim. A repeated call with the same token is the same claim. */
  token: string;
  /** How long the claim lasts unless it is extended; milliseconds. */
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
