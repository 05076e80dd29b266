import type { DeadLetters, Store } from '@call-webhooks/core';
import type { QueueJobs, StoreReport } from '@call-webhooks/core/stores';

/** The events and dead letters of a receiver. */
export interface OpenedStore {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
  /** The jobs of a queue, if a module of the user has them. */
  readonly jobs?: QueueJobs | undefined;
  /**
   * The queues of BullMQ or pg-boss in the same server, as far as this user may see them. Absent for a store whose
   * server has none.
   */
  readonly queues?: () => Promise<readonly FoundQueue[]>;
  /** Why there may be no dead letters, although a receiver has some; `undefined` if all is well. */
  readonly doubt?: () => Promise<string | undefined>;
  /** Why a store without a trace of a receiver may be the wrong one, where `doubt` and the tables do not tell. */
  readonly emptiness?: string;
  /** Asks the server about itself. Changes nothing. */
  readonly inspect: () => Promise<StoreReport>;
}

/** A queue in the server of a store. */
export interface FoundQueue {
  readonly name: string;
  /** The prefix of BullMQ, or the schema of pg-boss. */
  readonly prefix: string;
}

type Opened = OpenedStore & { readonly close: () => Promise<unknown> };

/** How a store is opened. */
interface Opening {
  readonly url: string;
  readonly prefix: string | undefined;
  /** Whether nothing may be written. */
  readonly readOnly: boolean;
  /** Aborted when nobody needs the store any more: ends connections that are still open. */
  readonly givenUp: AbortSignal;
}

export type Engine = (opening: Opening) => Promise<Opened>;
