const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Each number has its reason in the wire contract, or in the simulation that is among the tests. Durations are
 * milliseconds.
 */
export const THRESHOLDS = {
  /** Retries come "about every 5 minutes": what fails so much later was sent again. */
  retriedAfter: 4 * MINUTE_MS,
  /** Two retry intervals that are 10 % late, and a timeout: by then the retry after a lost one has come as well. */
  overdueAfter: 12 * MINUTE_MS,
  /** Rejected deliveries that belong together: a retry comes within this time. After it, they have ended. */
  rejectedPause: 7 * MINUTE_MS,
  /** How far back the end of a series of rejections is read row by row. */
  rejectedRows: 30 * MINUTE_MS,
  /** An event that arrives so much less often than another one has no part in what that one explains. */
  comparable: 0.2,
  /** Failures of deliveries that cannot be told apart and that belong together. */
  unnamedPause: 6.5 * MINUTE_MS,
  /** How far rules look back that need no history. */
  lookBack: 26 * HOUR_MS,
  /** An event has to have arrived in so many ten-minute periods before its silence is judged. */
  arrivals: 10,
  /** From here on, the longest wait that was seen is trusted. */
  manyArrivals: 50,
  /** How long a call is waited for that has started. */
  waitMin: 30 * MINUTE_MS,
  waitMax: 4 * HOUR_MS,
  /** So many calls at least have to lack an event. */
  calls: 3,
  /** No event of a tenant has arrived for so long. */
  nothingFor: 2 * HOUR_MS,
  /** For so long after it arrived, an event is said to be arriving. */
  arrivingFor: 15 * MINUTE_MS,
  /** So many calls came in the same hours of the week before. */
  usualCalls: 20,
  /** Which part of `ackWithin` is slow. */
  slowShare: 0.5,
  /** How many deliveries are looked at, from the newest on, and for how long at least. */
  slowDeliveries: 20,
  slowFor: 20 * MINUTE_MS,
  /** The `ackWithin` of receivers whose log does not say it. */
  ackWithin: 20_000,
  /** So long after a delivery was queued, a job should have ended: jobs of 10 minutes are no alarm. */
  stuckAfter: 15 * MINUTE_MS,
  /** How far clocks of processes differ whose deliveries are still accepted. */
  clockDifference: 5 * MINUTE_MS,
  /** For so long after an event arrived again, what was missed before is told, as long as stores remember events. */
  missedFor: 24 * HOUR_MS,
  /** The result of a reconcile is shown for so long. */
  reconciledFor: 26 * HOUR_MS,
} as const;

export type Thresholds = { readonly [Name in keyof typeof THRESHOLDS]: number };
