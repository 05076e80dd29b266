import type {
  DeadLetter,
  DeadLetterFailure,
  DeadLetterStore,
  StoredDeadLetter,
} from './dead-letter.ts';

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
  letters: StoredDeadLetter[];
  /** Absent on the last page. */
  cursor?: string;
}

/** Dead letters that can be read and removed: those of a store, or the dead jobs of a queue. */
export interface DeadLetterList {
  /** The letters that failed longest ago come first. */
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
