// The console's JSON API. The server and the page share these types, and nothing else.
//
// Paths are relative to where the console is mounted. Times are milliseconds since the epoch, durations
// are milliseconds. Every answer is JSON; one that is not 2xx is an `ApiError`. A POST needs
// `content-type: application/json`, and has to come from the console's own page.
//
// | route                              | query, body           | answer             |
// | ---------------------------------- | --------------------- | ------------------ |
// | GET  api/session                   |                       | Session            |
// | GET  api/overview                  |                       | Overview           |
// | GET  api/deliveries                | DeliveriesQuery       | DeliveriesPage     |
// | GET  api/deliveries/:id            |                       | DeliveryDetail     |
// | GET  api/calls/:callId             | ?tenant=              | CallTimeline       |
// | GET  api/dead-letters              | DeadLettersQuery      | DeadLettersPage    |
// | GET  api/dead-letters/:id          |                       | DeadLetterDetail   |
// | POST api/dead-letters/:id/reveal   | {}                    | DeadLetterDetail   |
// | POST api/dead-letters/:id/remove   | {}                    | { removed }        |
// | GET  api/tasks                     |                       | Tasks              |
// | POST api/redrive                   | RedriveRequest        | Tasks              |
// | POST api/redrive/stop              | {}                    | Tasks              |
// | POST api/reconcile                 | ReconcileRequest      | Tasks              |
// | POST api/reconcile/stop            | {}                    | Tasks              |
import type { DeadLetter, OutcomeCode } from '@call-webhooks/core';
import type { DeliverySource, Health, OutcomeInfo } from '@call-webhooks/core/internal';
import type { EventState, OutcomeRow } from '@call-webhooks/core/stores';

export type * from './task-types.ts';

/** Every answer that is not 2xx. */
export interface ApiError {
  error: {
    code: ApiErrorCode;
    /** What is wrong and what to do, for people. Contains nothing of the request. */
    message: string;
  };
}

export type ApiErrorCode =
  /** 403, or 401 where `authorize` asks for credentials. */
  | 'unauthorized'
  /** 503: `authorize` did not settle in time. */
  | 'unavailable'
  /** 403: the console or this person may only read. */
  | 'read-only'
  /** 403: the request does not come from the console's page. */
  | 'cross-origin'
  /** 400: no such path below the console. */
  | 'unknown-path'
  /** 405 */
  | 'method-not-allowed'
  /** 400: a query or body that cannot be used. */
  | 'invalid-request'
  /** 413 */
  | 'body-too-large'
  /** 415: a POST that is not JSON. */
  | 'unsupported-type'
  /** 409: a redrive or a reconcile is running already, here or in another process. */
  | 'already-running'
  /** 422: there is no such dead letter (any more). */
  | 'unknown-letter'
  /** 422: this console was created without `deadLetters` or `reconcile`, or its store has no log. */
  | 'not-configured'
  /** 503: a store does not respond. */
  | 'store-unavailable'
  /** 500 */
  | 'internal';

/** Who asks, and what this console can do. */
export interface Session {
  /** The name that `authorize` gave; `null` if it only said yes. */
  name: string | null;
  /** Whether this person may redrive, remove, reveal and reconcile. */
  canWrite: boolean;
  /** Whether the console was created with `readOnly`. */
  readOnly: boolean;
  /** Where to sign in, if the console was told. */
  signIn: string | null;
  /** The store of dead letters, the dead jobs of a queue, or `null` without either. */
  deadLetters: 'store' | 'jobs' | null;
  /** Whether there is a client to reconcile with. */
  reconcile: boolean;
  /** Whether the receiver's store has a log of outcomes. */
  log: boolean;
  /** The outcome table, by code. */
  outcomes: Record<OutcomeCode, OutcomeInfo & { result: Result; docs: string }>;
  /** The page of the docs that tells how the names of fields are learned. */
  fieldNamesDocs: string;
}

/** What a delivery came to, in a word. */
export type Result =
  | 'handled'
  | 'duplicate'
  | 'ignored'
  /** It became a dead letter. */
  | 'dead-letter'
  /** It was one before, and did not run. */
  | 'in-dead-letters'
  | 'failed'
  | 'rejected';

/** What the receivers and workers of the store do now, and did in the last hour and day. */
export interface Overview {
  now: number;
  /** Of the receiver that answered; at most 5 seconds old. */
  health: Health & { checkedAt: number };
  /** `null` if the store has no log, or does not respond. */
  log: {
    /** 60 points of a minute; the last one is not over yet. */
    hour: Period;
    /** 156 points of ten minutes: 26 hours. */
    day: Period;
    processes: ProcessSeen[];
    secrets: SecretUse[];
    /** Rows that were not kept, since more than 50 a second ended. The counts have them. */
    rowsDropped: number;
  } | null;
}

export interface Period {
  /** Milliseconds between two points. */
  step: number;
  /** Of deliveries by webhook. */
  points: (Record<Result, number> & { at: number; handlerP95: number | null })[];
  /** Each source apart. Sources that nothing came from are absent. */
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
export interface ProcessSeen {
  id: string;
  host: string;
  pid: number;
  startedAt: number;
  /** When it wrote last, by the clock of the store. It writes when something ended. */
  seenAt: number;
  inFlight: number;
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
  /** The begin of the minute in which it verified last; `null` if it did not in 26 hours. */
  lastAt: number | null;
}

/** The query of `api/deliveries`. Every condition that is given has to hold. */
export interface DeliveriesQuery {
  result?: Result | undefined;
  outcome?: OutcomeCode | undefined;
  source?: DeliverySource | undefined;
  /** The exact name of the event. */
  event?: string | undefined;
  call?: string | undefined;
  tenant?: string | undefined;
  /** In an id, a name, the outcome or the error, without regard to case. */
  text?: string | undefined;
  /** The `before` of the page before. */
  before?: string | undefined;
}

/** Deliveries of all processes, newest first. */
export interface DeliveriesPage {
  deliveries: DeliveryRow[];
  /** Where the next page begins; absent on the last page. */
  before?: string;
  /** How many were looked at for this page, and how old the oldest of them is. */
  searched: number;
  searchedTo: number | null;
  /** The event names and tenants among those that were looked at, for filters; at most 50 of each. */
  eventNames: string[];
  tenants: string[];
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
}

/** One call over its events. */
export interface CallTimeline {
  callId: string;
  tenant: string | null;
  /** The three events of the service in their order, and then all others that came. */
  events: CallEvent[];
}

export interface CallEvent {
  eventName: string;
  /** What the store knows of it; `null`: nothing. `unknown`: the store can't tell. */
  state: EventState | 'unknown' | null;
  /** Of the log, oldest first. */
  deliveries: DeliveryRow[];
  deadLetter?: DeadLetterRow;
}

/** What `api/dead-letters` and a redrive choose by. Every condition that is given has to hold. */
export interface DeadLetterSelection {
  event?: string | undefined;
  reason?: DeadLetter['reason'] | undefined;
  tenant?: string | undefined;
  /** Failed last at this time or later. */
  since?: number | undefined;
  until?: number | undefined;
  /** The id of a `Cause`. */
  cause?: string | undefined;
  /** In an id, a name or the error, without regard to case. */
  text?: string | undefined;
}

/** The query of `api/dead-letters`. */
export interface DeadLettersQuery extends DeadLetterSelection {
  /** How many of the matching ones to leave out. */
  offset?: number | undefined;
  /** 1 to 200; 50 by default. */
  limit?: number | undefined;
}

/** The letters that failed last come first. */
export interface DeadLettersPage {
  letters: DeadLetterRow[];
  /** How many match. */
  total: number;
  /** Set if there are too many to search: only the newest ones were, and there are so many. */
  searched?: number;
  /** Why they failed, most frequent first. Of all that match, whatever their `cause` is; at most 50. */
  causes: Cause[];
  /** The event names and tenants that occur; at most 50 of each. */
  eventNames: string[];
  tenants: string[];
}

/** Dead letters with the same error but for ids, numbers and quoted texts. */
export interface Cause {
  id: string;
  text: string;
  count: number;
  firstAt: number;
  lastAt: number;
  eventNames: string[];
  /** The one that failed last. */
  example: { id: string; error: string };
}

export interface DeadLetterRow {
  id: string;
  reason: DeadLetter['reason'];
  tenant?: string;
  webhookId: string;
  eventName?: string;
  callId?: string;
  key?: string;
  attempt: number;
  /** When the last attempt was signed. */
  signedAt: number;
  failedAt: number;
  source: DeliverySource;
  /** Without personal data and secrets. */
  error: string;
  /** How many attempts failed, redrives among them. */
  attempts: number;
  /** Until when a redrive has it. */
  claimedUntil?: number;
}

export interface DeadLetterDetail extends DeadLetterRow {
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
