import type { Store } from '@call-webhooks/core';

/** The kinds of `Attention`, which its property `kind` explains. */
export type AttentionKind =
  'store' | 'failing' | 'silent' | 'rejected' | 'missed' | 'stuck' | 'slow';

/** One thing that needs attention, as `status` finds it. */
export interface Attention {
  /**
   * - `store`: the store does not answer, so every delivery is rejected; or only its outcome log cannot be read.
   * - `failing`: events fail again and again, or have become dead letters.
   * - `silent`: an event has stopped arriving.
   * - `rejected`: deliveries could not be verified.
   * - `missed`: a reconcile found events for which no delivery had arrived, or failed events were not sent again.
   * - `stuck`: deliveries are waiting in the queue, and no worker is running them.
   * - `slow`: deliveries take more than half of the time within which they have to be acknowledged.
   */
  readonly kind: AttentionKind;
  /** Whether the service may pause a rule because of it, or may have paused one. */
  readonly urgent: boolean;
  /**
   * The evidence of `silent`: a retry that did not come, other events of the same calls, or the same hours of last
   * week. Absent for all other kinds.
   */
  readonly by?: 'retries' | 'other-events' | 'usual-hours' | undefined;
  /** The tenant that it concerns. Absent without tenants, and if it concerns all of them. */
  readonly tenant?: string | undefined;
  /** The event name that it concerns. Absent if it concerns every event, or several, or an unknown one. */
  readonly eventName?: string | undefined;
  /**
   * When it began, in milliseconds since the epoch by the store's clock: the time of the first bad delivery, or the
   * beginning of its minute (of `slow`: of its ten minutes) if the log no longer has its row.
   */
  readonly since: number;
  /** When it ended, in milliseconds since the epoch: only of `rejected`. Absent while it goes on. */
  readonly until?: number | undefined;
  /** How many deliveries (`rejected`, `stuck`, `slow`), events or calls it is about. Of `store`, always 1. */
  readonly count: number;
  /** What happened, with the evidence: one or more sentences in Markdown. */
  readonly text: string;
  /** What to do: one or more sentences in Markdown. */
  readonly fix: string;
  /** The address of the section that explains the kind. */
  readonly docs: string;
}

/** What `status` knows of one event name of one tenant. */
export interface EventStatus {
  /** The tenant. Absent without tenants. */
  readonly tenant?: string | undefined;
  readonly eventName: string;
  /**
   * When the last verified delivery of the event arrived, in milliseconds since the epoch. Absent if none did in the
   * last 30 days.
   */
  readonly arrivedAt?: number | undefined;
  /** When the last one was acknowledged, in milliseconds since the epoch. */
  readonly acknowledgedAt?: number | undefined;
  /**
   * - `arrives`: a delivery arrived in the last 2 hours, no call lacks the event, and it has arrived since the
   *   rejections that are `undecided` began.
   * - `quiet`: none arrived, which may be normal at this hour.
   * - `attention`: an item of `attention` is about it.
   * - `unknown`: the log cannot tell; `why` says why.
   */
  readonly state: 'arrives' | 'quiet' | 'attention' | 'unknown';
  /** With `unknown`, the reason and what is needed: one or more sentences in Markdown. */
  readonly why?: string | undefined;
}

/**
 * Deliveries of the last minutes that failed verification, and cannot be judged yet: the service sends a genuine one
 * again after about 5 minutes, and a forged request is not sent again. After 8 minutes at most, they are an item of
 * `attention`, or nothing is said about them any more.
 */
export interface UndecidedRejections {
  /** The tenant that they name. Absent without tenants, and if no delivery of that tenant was ever verified. */
  readonly tenant?: string | undefined;
  /** When the first one was rejected, in milliseconds since the epoch by the store's clock. */
  readonly since: number;
  /** How many were rejected. */
  readonly count: number;
  /** What happened, and why it cannot be judged: sentences in Markdown. */
  readonly text: string;
}

/** What needs attention, and what is known of each event. */
export interface Status {
  /** When it was judged, in milliseconds since the epoch, by the store's clock. */
  readonly at: number;
  /**
   * What needs attention. Urgent items come first. Among equally urgent ones, the order is `store`, `silent`,
   * `rejected`, `failing`, `stuck`, `missed`, `slow`, and of one kind the oldest first.
   */
  readonly attention: readonly Attention[];
  /** What is too new to be judged: it needs no attention yet, and is no sign that all is well. */
  readonly undecided: readonly UndecidedRejections[];
  /** Each event name of each tenant that arrived in the last 30 days, sorted by tenant and name. */
  readonly events: readonly EventStatus[];
  /** What requires no action, such as events without a handler: one sentence in Markdown each. */
  readonly notes: readonly string[];
  /** Why nothing can be told: the store keeps no outcome log, or it cannot be read. */
  readonly unknown?: string | undefined;
  /** The time zone of the times in the texts. Absent if that is the zone of the process. */
  readonly timeZone?: string | undefined;
}

/** The part of a store that `status` uses. */
export type StatusStore = Pick<Store, 'log' | 'peek' | 'ping' | 'loadCursor' | 'rememberFor'>;

/** The options of `status`. */
export interface StatusOptions {
  /** The store that all receivers and workers share. */
  store: StatusStore;
  /** The names of the events that should arrive. Default: all that arrived in the last 30 days. */
  expect?: readonly string[] | undefined;
  /** The time to judge at, in milliseconds since the epoch. Default: the time of the store's clock. */
  now?: (() => number) | undefined;
  /**
   * The time zone of the times in the texts: an IANA name such as `Europe/Berlin`. Each time is shown with its zone.
   * Default: the zone of the process.
   */
  timeZone?: string | undefined;
}
