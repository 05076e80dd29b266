import type { Store } from '@call-webhooks/core';

/** What may be wrong. */
export type AttentionKind =
  'store' | 'failing' | 'silent' | 'rejected' | 'missed' | 'stuck' | 'slow';

/** One thing that somebody should look at. */
export interface Attention {
  /**
   * - `store`: the store does not answer, so every delivery is rejected.
   * - `failing`: an event fails again and again, or events became dead letters.
   * - `silent`: an event has stopped arriving.
   * - `rejected`: deliveries could not be verified.
   * - `missed`: events were found that no delivery had come for, or that were not sent again.
   * - `stuck`: deliveries are queued, and no worker runs them.
   * - `slow`: deliveries come near the time within which they have to be acknowledged.
   */
  readonly kind: AttentionKind;
  /** Whether the service may pause a rule because of it, or may have paused one. */
  readonly urgent: boolean;
  /** Of `silent`: a retry that did not come, other events of the same calls, or the same hours of last week. */
  readonly by?: 'retries' | 'other-events' | 'usual-hours' | undefined;
  /** Absent without tenants, and if it concerns all of them. */
  readonly tenant?: string | undefined;
  /** Absent if it concerns every event, or if nobody can tell which. */
  readonly eventName?: string | undefined;
  /** Since when; milliseconds since the epoch, by the store's clock. */
  readonly since: number;
  /** How many deliveries, events or calls it is about; of `store`, always 1. */
  readonly count: number;
  /** What happened, with the evidence. One or more sentences in Markdown. */
  readonly text: string;
  /** What to do. One or more sentences in Markdown. */
  readonly fix: string;
  /** The address of the page that explains it. */
  readonly docs: string;
}

/** What is known of one event name, of one tenant. */
export interface EventStatus {
  /** Absent without tenants. */
  readonly tenant?: string | undefined;
  readonly eventName: string;
  /** When a verified delivery of it came last; milliseconds since the epoch. Absent if none did in 30 days. */
  readonly arrivedAt?: number | undefined;
  /** When one was acknowledged last; milliseconds since the epoch. */
  readonly acknowledgedAt?: number | undefined;
  /**
   * - `arrives`: a delivery came in the last 2 hours, and no further one is due.
   * - `quiet`: none came, which may be normal at this hour.
   * - `attention`: `attention` of the status has an item about it.
   * - `unknown`: nobody can tell; `why` says why.
   */
  readonly state: 'arrives' | 'quiet' | 'attention' | 'unknown';
  /** With `unknown`: why nobody can tell. One sentence in Markdown. */
  readonly why?: string | undefined;
}

/** What needs attention. */
export interface Status {
  /** When it was judged; milliseconds since the epoch, by the store's clock. */
  readonly at: number;
  /** Urgent ones first, then the oldest. */
  readonly attention: readonly Attention[];
  /** Each event name of each tenant that arrived in the last 30 days, by name. */
  readonly events: readonly EventStatus[];
  /** What nobody has to act on, such as events without a handler. One sentence in Markdown each. */
  readonly notes: readonly string[];
  /** Why nothing can be told: the store keeps no outcome log, or it cannot be read. */
  readonly unknown?: string | undefined;
  /** The zone of the times in its texts. Absent if that is the zone of the process. */
  readonly timeZone?: string | undefined;
}

/** The part of a store that is used. */
export type StatusStore = Pick<Store, 'log' | 'peek' | 'ping' | 'loadCursor' | 'rememberFor'>;

/** The options of `status`. */
export interface StatusOptions {
  /** The store that all receivers and workers share. */
  store: StatusStore;
  /** The names of the events that should arrive; by default, all that did in the last 30 days. */
  expect?: readonly string[] | undefined;
  /** The time to judge at; milliseconds since the epoch. By default, what the store's clock says. */
  now?: (() => number) | undefined;
  /**
   * The zone of the times in the texts, as an IANA name such as `Europe/Berlin`; by default, the zone of the
   * process. Each time that is shown names its zone.
   */
  timeZone?: string | undefined;
}
