import type { OutcomeCode, DeliverySource, Health } from '@call-webhooks/core';
import type {
  EventState,
  ListedDeadLetter,
  OutcomeRow,
  SeenProcess,
} from '@call-webhooks/core/stores';
import type { DeadLetterCause, Status } from '@call-webhooks/recovery';
import type { AttentionGroup } from '@call-webhooks/recovery/internal';
import type { OutcomeTable, Result } from './results.ts';

// The answers of the console's JSON API, which the server and the page share. Times are milliseconds since
// the epoch, durations are milliseconds. An answer that is not 2xx is `{ error: { code, message } }`.

export type * from './requests.ts';
export type * from './task-types.ts';
export type { Result } from './results.ts';

/** Who asks, and what this console can do. */
export interface Session {
  /** The name that `authorize` gave; `null` if it only said yes. */
  name: string | null;
  /** Whether this person may redrive, remove, erase, reveal and reconcile. */
  canWrite: boolean;
  /** Whether the console was created with `readOnly`. */
  readOnly: boolean;
  /** Where to sign in, if the console was told. */
  signIn: string | null;
  /** The store of dead letters, the dead jobs of a queue, or `null` without either. */
  deadLetters: 'store' | 'jobs' | null;
  /** Whether there is a client to reconcile with. */
  reconcile: boolean;
  /** Whose calls that client lists; `null` without tenants. */
  reconcileTenant: string | null;
  /** Whether the receiver's store has a log of outcomes. */
  log: boolean;
  /** The outcome table, by code. */
  outcomes: OutcomeTable;
  /** The page of the docs that tells how the names of fields are learned. */
  fieldNamesDocs: string;
  /** The page of the docs that tells how long personal data are kept. */
  retentionDocs: string;
  /** Whether the receiver's store can forget the keys of events. */
  canForget: boolean;
}

/** What the receivers and workers of the store do now, and did in the last hour and day. */
export interface Overview {
  now: number;
  /** Of all tenants, or of the one that was asked for; at most 10 seconds old. */
  status: StatusShown;
  /** Of the receiver that answered; at most 5 seconds old. */
  health: Health & { checkedAt: number };
  /** `null` if the store has no log, or does not respond. */
  log: {
    /** 60 points of a minute; the last one is not over yet. */
    hour: Period;
    /** 156 points of ten minutes: 26 hours. */
    day: Period;
    processes: ProcessSeen[];
    /** The versions of the app that ran in the last 50 hours, newest first. Empty without `version`. */
    versions: AppVersion[];
    secrets: SecretUse[];
    /** Rows that were not kept, since more than 50 a second ended. The counts have them. */
    rowsDropped: number;
  } | null;
}

/** What needs attention, and the same in one line. Texts are Markdown. */
export type StatusShown = Status & {
  line: string;
  /** The same as `attention`: items that have one fix are shown together. */
  groups: readonly AttentionGroup[];
  /** The tenants that it can be asked for. */
  tenants: string[];
};

export interface AppVersion {
  version: string;
  /** When its first process started. */
  since: number;
  processes: number;
}

/** How long things took: the 95th percentiles by ten minutes, and percentiles of the whole time. */
export interface Times {
  step: number;
  points: TimesPoint[];
  /** Webhook deliveries, from the request to the response. */
  delivery: Percentiles | null;
  /** Handlers of all sources. */
  handler: Percentiles | null;
  /** All calls of the store of one delivery. */
  store: Percentiles | null;
  /** From the signature to the receiver, to the second. */
  lag: Percentiles | null;
  /** The slowest handler first; at most 30. */
  events: EventTimes[];
}

/** 95th percentiles of ten minutes; milliseconds, `null` where nothing was measured. */
export interface TimesPoint {
  at: number;
  delivery: number | null;
  handler: number | null;
  store: number | null;
  lag: number | null;
}

export interface EventTimes {
  eventName: string;
  /** How often its handler ran. */
  runs: number;
  delivery: Percentiles | null;
  handler: Percentiles | null;
}

/** Why deliveries failed, most frequent first; at most 50 causes. */
export interface FailureCauses {
  causes: FailureCause[];
  /** How many failures were looked at, and how far back. */
  failures: number;
  searchedTo: number;
}

/** Failed deliveries and runs whose errors differ only as those of a `Cause`. */
export interface FailureCause {
  id: string;
  text: string;
  outcome: OutcomeCode;
  /** How many deliveries and runs failed. */
  count: number;
  /** How many events they were of, and how many of these are neither handled nor dead-lettered by now. */
  events: number;
  /** `null` if the store cannot tell. */
  open: number | null;
  eventNames: string[];
  firstAt: number;
  lastAt: number;
}

export interface Period {
  /** Milliseconds between two points. */
  step: number;
  /** Of deliveries by webhook. */
  points: (Record<Result, number> & { at: number })[];
  /** Each source separately. Sources without deliveries are absent. */
  sources: Partial<Record<DeliverySource, SourceCounts>>;
  /** Handlers that ended after the deadline of their delivery. */
  late: number;
  /** How long handlers took; `null` if none ran. */
  handlerMs: Percentiles | null;
  /** From the signature to the receiver, to the second. */
  lagMs: Percentiles | null;
}

export interface SourceCounts {
  total: number;
  results: Record<Result, number>;
  outcomes: Partial<Record<OutcomeCode, number>>;
}

/** From buckets: exact to a fifth. */
export interface Percentiles {
  p50: number;
  p95: number;
}

/** A process that wrote to the log in the last 26 hours; the one that wrote last comes first. */
export interface ProcessSeen extends Omit<SeenProcess, 'at' | 'closed'> {
  /** `lost`: it wrote last while it handled deliveries, longer ago than any handler may run. */
  state: 'active' | 'quiet' | 'lost' | 'closed';
  /** By how much its clock is ahead of the store's, if that is more than 5 seconds. */
  clockAheadMs?: number;
}

/** How often a secret verified a delivery, in all processes. Never the secret itself. */
export interface SecretUse {
  id: string;
  /** Whether the receiver that answered is configured with it; `null` if that is not known. */
  isConfigured: boolean | null;
  /** In the last 26 hours. */
  verified: number;
  /** In the last hour. */
  lastHour: number;
  /**
   * When it verified a delivery last, to a second or, if the log has too many events, to a minute; `null` if it
   * did not in the last 30 days.
   */
  lastAt: number | null;
  state: SecretState;
  /** The other secrets that `state` is about. */
  others: string[];
  /** The tenants whose deliveries it verified in the last 30 days, as far as the log names them. */
  tenants: string[];
}

/**
 * - `in-use`: it verified the last delivery of an event, in the last hour.
 * - `quiet`: the same, but longer ago.
 * - `being-replaced`: it verified a delivery in the last 10 minutes, and `others` verified its events since.
 * - `replaced`: the same, but longer ago.
 * - `unused`: it has verified nothing in 30 days.
 * - `new-id`: it has verified nothing since it got this id; `others` is the id that its deliveries had before.
 * - `renamed`: the receiver that answered lists it as one of `others` now.
 * - `not-configured`: the receiver that answered does not have it.
 */
export type SecretState =
  | 'in-use'
  | 'quiet'
  | 'being-replaced'
  | 'replaced'
  | 'unused'
  | 'new-id'
  | 'renamed'
  | 'not-configured';

/** Deliveries of all processes, newest first. */
export interface DeliveriesPage {
  deliveries: DeliveryRow[];
  /** Where the next page begins; absent on the last page. */
  before?: string;
  /** How many were looked at for this page, and how old the oldest of them is. */
  searched: number;
  searchedTo: number | null;
  /** The time of the oldest outcome that the log has; `null` if it is empty. */
  keptSince: number | null;
  /** The event names, tenants and versions of the app that the log knows, for filters; at most 50 of each. */
  eventNames: string[];
  tenants: string[];
  versions: string[];
}

/** One outcome. Ids are as in log lines: on one line, and without personal data. */
export interface DeliveryRow extends OutcomeRow {
  /** The webhook id, which is the same in every process; made up for what has none. */
  id: string;
  result: Result;
}

/** All outcomes of one webhook id, newest first, and what the store knows of its event. */
export interface DeliveryDetail {
  /** Empty if the log does not have it (any more). */
  deliveries: DeliveryRow[];
  state: EventState | null;
  deadLetterId: string | null;
  /** Whether the store of dead letters does not have the letter of a dead-lettered event. */
  isLetterGone: boolean;
}

/** One call over its events. */
export interface CallTimeline {
  callId: string;
  tenant: string | null;
  /** The three events of the service in their order, and then all others that arrived. */
  events: CallEvent[];
}

export interface CallEvent {
  eventName: string;
  /** What the store knows of it; `null`: nothing. `unknown`: the store can't tell. */
  state: EventState | 'unknown' | null;
  /** Of the log, oldest first. */
  deliveries: DeliveryRow[];
  deadLetter?: DeadLetterRow;
  /** Whether the event is dead-lettered, but the store of dead letters does not have it. */
  isLetterGone: boolean;
}

/** The letters that failed last come first. */
export interface DeadLettersPage {
  letters: DeadLetterRow[];
  /** How many match. */
  total: number;
  /** Set if there are too many to search: only the newest ones were, and there are so many. */
  searched?: number;
  /** When the oldest of all letters failed last, whatever is filtered; `null` if there is none. */
  oldestAt: number | null;
  /** How long letters are kept; `null`: without a limit. Absent for dead jobs: only their queue knows. */
  keepFor?: number | null;
  /** Why they failed, most frequent first. Of all that match, whatever their `cause` is; at most 50. */
  causes: Cause[];
  /** The event names and tenants of all letters, whatever is filtered; at most 50 of each. */
  eventNames: string[];
  tenants: string[];
}

/** The letters whose bodies have the data of a person, newest first. */
export interface PersonFound {
  letters: DeadLetterRow[];
  /** How many bodies were read, and when the oldest of them failed. */
  searched: number;
  searchedTo: number | null;
  /** Set for a phone number that is so short that it is found only if it is written in full. */
  inFullOnly?: true;
  /** Where the search goes on; absent if all were searched. */
  before?: string;
}

/** Dead letters with the same error but for ids, times, long numbers and quoted sentences. */
export type Cause = Omit<DeadLetterCause, 'firstAt' | 'lastAt'> & {
  firstAt: number;
  lastAt: number;
};

/** A letter without its body. Ids are as in log lines. */
export interface DeadLetterRow extends Omit<
  ListedDeadLetter,
  'timestamp' | 'failedAt' | 'bytes' | 'history' | 'claimedUntil' | 'stack'
> {
  /** When the last attempt was signed. */
  signedAt: number;
  /** When it became a dead letter. */
  deadLetterSince: number;
  /** When the last attempt failed; later than that if a redrive failed. */
  failedAt: number;
  /** How many attempts failed, redrives among them. */
  attempts: number;
  /** Until when a redrive has it. */
  claimedUntil?: number;
}

export interface DeadLetterDetail extends DeadLetterRow {
  /** The first frames of the last error, redacted. Absent if the letter has none. */
  stack?: string;
  /** Every attempt that is known, oldest first: those of the log, and then at most the last 50. */
  history: { at: number; source: DeliverySource; attempt: number; error: string }[];
  /** How many attempts failed before the first one of the history. */
  earlierAttempts: number;
  body: DeadLetterBody;
}

/** The body of a dead letter. */
export interface DeadLetterBody {
  /** Whether personal data is masked. `reveal` answers with the body as it is. */
  masked: boolean;
  /** A masked body that is no JSON has no text. */
  text: string | null;
  /** The size of the body. */
  bytes: number;
  /** Whether the text was cut at 256 KB. */
  truncated: boolean;
}
