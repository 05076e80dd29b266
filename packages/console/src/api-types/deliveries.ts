import type { OutcomeCode } from '@call-webhooks/core';
import type { DeliverySource } from '@call-webhooks/core/internal';
import type { DeadLetterRow } from './dead-letters.ts';

/** The query of `api/deliveries`. Every condition that is given has to hold. */
export interface DeliveriesQuery {
  /** One code, or several with commas. */
  outcome?: string;
  /** `acknowledged`, `failed` or `refused`; several with commas. */
  result?: string;
  source?: string;
  /** The exact name of the event. */
  event?: string;
  call?: string;
  tenant?: string;
  /** In an id, a name, the outcome or the error, without regard to case. */
  text?: string;
  /** Deliveries from then on. */
  since?: string;
  /** Deliveries before then. */
  until?: string;
  /** The `cursor` of the page before. */
  before?: string;
  /** 1 to 200; 50 by default. */
  limit?: string;
}

/** The latest deliveries of the process that answered, newest first. */
export interface DeliveriesPage {
  deliveries: DeliveryRow[];
  /** For `before`; absent on the last page. */
  cursor?: string;
  /** How many of those that are kept match. */
  matching: number;
  /** How many are kept now, and at most. */
  kept: number;
  capacity: number;
  /** Which process answered: deliveries of others are not in its list. */
  process: string;
  /** The event names and tenants among those that are kept, for filters; at most 50 of each. */
  eventNames: string[];
  tenants: string[];
}

/** One delivery. Ids are as in log lines: on one line, and without personal data. */
export interface DeliveryRow {
  /** Unique within the process. */
  id: string;
  at: number;
  outcome: OutcomeCode;
  result: 'acknowledged' | 'failed' | 'refused';
  source: DeliverySource;
  status: number;
  durationMs: number;
  tenant?: string;
  webhookId?: string;
  eventName?: string;
  callId?: string;
  key?: string;
  attempt?: number;
  attemptsLeft?: number;
  handlerMs?: number;
  storeMs?: number;
  waitMs?: number;
  lagMs?: number;
  queued?: true;
  secretId?: string;
  /** The second outcome of a delivery that was answered `deadline`. */
  late?: true;
  /** Without personal data and secrets. */
  error?: { code: string; message: string };
}

/** One call over its events, as far as this process saw it, and the dead letters have it. */
export interface CallTimeline {
  callId: string;
  tenant: string | null;
  process: string;
  /** The three events of the service in their order, and then all others that came. */
  events: CallEvent[];
}

export interface CallEvent {
  eventName: string;
  /**
   * `not-seen`: no delivery of it is in the list of this process. `handled`: also a duplicate, or one
   * without a handler. `queued`: a worker has not ended it yet. `failed`: it comes again.
   */
  state: 'not-seen' | 'handled' | 'queued' | 'failed' | 'dead-lettered';
  /** Oldest first. */
  deliveries: DeliveryRow[];
  deadLetter?: DeadLetterRow;
  /** Set while the store of dead letters does not answer. */
  deadLetterUnknown?: true;
}
