import type { OutcomeCode } from '@call-webhooks/core';
import type { DeliverySource, Health } from '@call-webhooks/core/internal';

/** The query of `api/overview`. */
export interface OverviewQuery {
  /** Only this process; the sum of all by default. */
  process?: string;
}

/** What the receivers and workers do now, and did in the last hour and day. */
export interface Overview {
  now: number;
  /** `process`: this process alone is counted. `shared`: all that share statistics are. */
  scope: 'process' | 'shared';
  /** Why other processes are missing, while the shared store does not answer. */
  sharedError?: string;
  /** Which process answered. */
  process: string;
  /** This process first. With `scope: 'process'`, it is the only one. */
  processes: ProcessSummary[];
  health: HealthReport;
  secrets: SecretUse[];
  inFlight: InFlight;
  /** About the last minute: deliveries a minute, now. */
  perMinute: number;
  /** 60 points of a minute; the last one is not over yet. */
  hour: Series;
  /** 144 points of ten minutes; the last one is not over yet. */
  day: Series;
}

/** One process that receives or works. */
export interface ProcessSummary {
  id: string;
  host: string;
  pid: number;
  startedAt: number;
  /** When it wrote its statistics last. */
  seenAt: number;
  perMinute: number;
  inFlight: InFlight;
  /** Of the last hour. */
  summary: Summary;
}

/** What runs at this moment. */
export interface InFlight {
  /** Requests, jobs and redrives that have no outcome yet. */
  deliveries: number;
  /** Handlers; also those whose deadline has passed. */
  handlers: number;
}

/** Of the process that answered; at most 5 seconds old. */
export interface HealthReport extends Health {
  checkedAt: number;
}

/** Which secret verified what, and when last. Never the secret itself. */
export interface SecretUse {
  secretId: string;
  tenant: string | null;
  verified: number;
  lastAt: number;
  /** Of the last delivery that it verified. */
  lastEventName: string | null;
}

export interface Series {
  /** Milliseconds between two points. */
  step: number;
  points: SeriesPoint[];
  /** Of all points together. */
  summary: Summary;
}

export interface SeriesPoint extends Summary {
  /** When it begins. */
  at: number;
}

/** Counts and times of a stretch of time. */
export interface Summary {
  /** Deliveries with an outcome. Late outcomes are not counted again. */
  deliveries: number;
  /** Answered 2xx. */
  acknowledged: number;
  /** Authentic, and not answered 2xx: the service or the queue tries again. */
  failed: number;
  /** Refused: nobody knows who sent it. */
  refused: number;
  /** Handlers that ended after the deadline of their delivery. */
  late: number;
  outcomes: Partial<Record<OutcomeCode, number>>;
  sources: Partial<Record<DeliverySource, number>>;
  /** How long handlers took; `null` if none ran. */
  handlerMs: Percentiles | null;
  /** From the signature to the receiver, to the second. */
  lagMs: Percentiles | null;
  /** In a queue's worker: from the receiver to the start of the run. */
  queueLagMs: Percentiles | null;
  /** From the request to its outcome. */
  durationMs: Percentiles | null;
}

/** From a histogram with fixed buckets: each is exact to about a fifth. */
export interface Percentiles {
  count: number;
  p50: number;
  p95: number;
  p99: number;
  /** Exact. */
  max: number;
}
