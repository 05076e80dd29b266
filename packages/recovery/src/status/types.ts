import type { Store } from '@call-webhooks/core';
import type { DeadLetterList } from '@call-webhooks/core/stores';

/** The kinds of `Attention`. Its property `kind` explains each of them. */
export type AttentionKind =
  'store' | 'failing' | 'silent' | 'rejected' | 'missed' | 'stuck' | 'slow';

/** One problem that `status` has found and that needs attention. */
export interface Attention {
  /**
   * - `store`: the store does not respond, so every delivery is rejected with 503; or only its outcome log cannot be read.
   * - `failing`: events keep failing, or have become dead letters.
   * - `silent`: an event has stopped arriving.
   * - `rejected`: deliveries could not be verified.
   * - `missed`: an event had stopped arriving and arrives again, a reconcile run found events that never arrived, or
   *   failed events were not sent again.
   * - `stuck`: deliveries are waiting in the queue, and no worker is running their jobs.
   * - `slow`: deliveries take more than half of the time within which they have to be acknowledged.
   */
  readonly kind: AttentionKind;
  /** Whether the service may pause a rule because of this problem, or may have paused one already. */
  readonly urgent: boolean;
  /**
   * The evidence for `silent`: a retry that did not arrive, other events of the same calls, or the same hours of last
   * week. Absent for all other kinds.
   */
  readonly by?: 'retries' | 'other-events' | 'usual-hours' | undefined;
  /** The tenant concerned. Absent if the receiver has no tenants, or if all of them are concerned. */
  readonly tenant?: string | undefined;
  /** The name of the event concerned. Absent if several or all events are concerned, or if the name is unknown. */
  readonly eventName?: string | undefined;
  /**
   * When the problem began, in milliseconds since the epoch by the store's clock: the time of the first bad delivery,
   * for dead letters the time at which the oldest one became one, and for `stuck` the time of the first delivery that
   * waits. If the log no longer contains the row of that delivery, the beginning of its minute (for `slow`, of its ten
   * minutes).
   */
  readonly since: number;
  /** When the rejections ended, in milliseconds since the epoch. Only for `rejected`, and absent while they continue. */
  readonly until?: number | undefined;
  /** The number of deliveries (`rejected`, `stuck`, `slow`), events or calls concerned. Always 1 for `store`. */
  readonly count: number;
  /** What happened, with the evidence: one or more sentences in Markdown. */
  readonly text: string;
  /** What to do: one or more sentences in Markdown. */
  readonly fix: string;
  /** The URL of the section of the docs that explains this kind. */
  readonly docs: string;
}

/** What `status` knows about one event name of one tenant. */
export interface EventStatus {
  /** The tenant. Absent if the receiver has no tenants. */
  readonly tenant?: string | undefined;
  /** The name of the event, such as `call:completed`. */
  readonly eventName: string;
  /**
   * When the last verified delivery of the event arrived, in milliseconds since the epoch. Absent if none did in the
   * last 30 days.
   */
  readonly arrivedAt?: number | undefined;
  /** When a delivery of the event was last acknowledged, in milliseconds since the epoch. Absent if none was. */
  readonly acknowledgedAt?: number | undefined;
  /**
   * - `arrives`: a delivery arrived in the last 2 hours, and no call lacks the event. If there are `undecided`
   *   rejections, a delivery has arrived since they began.
   * - `quiet`: no delivery arrived in the last 2 hours, which may be normal at this hour.
   * - `attention`: an item of `attention` concerns this event.
   * - `unknown`: the log doesn't contain enough to judge the event; `why` gives the reason.
   */
  readonly state: 'arrives' | 'quiet' | 'attention' | 'unknown';
  /** For the state `unknown`, the reason and what is needed: one or more sentences in Markdown. */
  readonly why?: string | undefined;
}

/**
 * Recent deliveries that failed verification and can't be judged yet. The service resends a genuine delivery after about
 * 5 minutes, while a forged request is not resent. Within 8 minutes, `status` either moves the rejections to
 * `attention` or drops them.
 */
export interface UndecidedRejections {
  /** The tenant that the deliveries name. Absent without tenants, or if no delivery of that tenant was ever verified. */
  readonly tenant?: string | undefined;
  /** When the first delivery was rejected, in milliseconds since the epoch by the store's clock. */
  readonly since: number;
  /** The number of rejected deliveries. */
  readonly count: number;
  /** What happened, and why it can't be judged yet: sentences in Markdown. */
  readonly text: string;
}

/** Something that is worth knowing and does not count as a problem. */
export interface StatusNote {
  /** The tenant concerned. Absent if the receiver has no tenants, or if the log does not tell. */
  readonly tenant?: string | undefined;
  /** One or more sentences in Markdown. */
  readonly text: string;
}

/** The result of `status`: what needs attention, and what is known about each event. */
export interface Status {
  /** The time of this result, in milliseconds since the epoch by the store's clock. */
  readonly at: number;
  /**
   * What needs attention. Urgent items come first. Equally urgent items are sorted by kind (`store`, `silent`,
   * `rejected`, `failing`, `stuck`, `missed`, `slow`), and items of the same kind from oldest to newest.
   */
  readonly attention: readonly Attention[];
  /** Rejections that are too recent to be judged. They need no attention yet, but all may not be well. */
  readonly undecided: readonly UndecidedRejections[];
  /**
   * Each event name of each tenant that arrived in the last 30 days, sorted by tenant and name, and the names in
   * `expect` that have never arrived.
   */
  readonly events: readonly EventStatus[];
  /** What is worth knowing and does not count as a problem, such as events without a handler. */
  readonly notes: readonly StatusNote[];
  /** Set if the status can't be determined, with the reason: the store keeps no outcome log, or it can't be read. */
  readonly unknown?: string | undefined;
  /** The time zone of all times in `text`, `why` and `notes`. Absent if it is the process's zone. */
  readonly timeZone?: string | undefined;
}

/** The part of a store that `status` uses. */
export type StatusStore = Pick<Store, 'log' | 'peek' | 'ping' | 'loadCursor' | 'rememberFor'>;

/** The options of `status`. */
export interface StatusOptions {
  /** The store that all receivers and workers share. */
  store: StatusStore;
  /**
   * The dead letters of the receivers, so that those that wait are reported for as long as they wait. Default: the
   * events that have become dead letters in the last 26 hours and were not handled since, according to the log.
   */
  deadLetters?: Pick<DeadLetterList, 'count' | 'list'> | undefined;
  /**
   * The names of the events that should arrive. They are listed even if they have never arrived, and `status` doesn't
   * report that other events have stopped arriving; events that fail are always reported. Default: all that arrived in
   * the last 30 days.
   */
  expect?: readonly string[] | undefined;
  /** The time to judge at, in milliseconds since the epoch. Default: the time of the store's clock. */
  now?: (() => number) | undefined;
  /**
   * The time zone in which the texts show times: an IANA name such as `Europe/Berlin`. Each time is shown with its zone.
   * Default: the process's zone.
   */
  timeZone?: string | undefined;
}
