/**
 * One line of a run's journal. Times are milliseconds of the machine's monotonic clock, which all of
 * its processes share; what lasts has its begin (`at`) and its end (`until`).
 */
export type Line = Delivery | Run | Claimed | Renewed | Settling | Settled | Fault;

interface Moment {
  at: number;
}
interface Span extends Moment {
  until: number;
}
interface OfLease {
  pid: number;
  key: string;
  token: string;
}

/** What the sender saw of one attempt. Status 0: no answer. */
export interface Delivery extends Span {
  kind: 'delivery';
  key: string;
  status: number;
  outcome: string;
}

/** A handler began, had its effect, or failed; or the delivery was handed to `deadLetter`. */
export interface Run extends Moment {
  kind: 'begin' | 'effect' | 'failed' | 'dead';
  pid: number;
  key: string;
  attempt: number;
}

/** The store gave a lease. */
export interface Claimed extends Span, OfLease {
  kind: 'claimed';
  attempt: number;
  leaseMs: number;
}

/** The store prolonged a lease. */
export interface Renewed extends Span, OfLease {
  kind: 'renewed';
  leaseMs: number;
}

/** The holder gives its lease up: from here on somebody else may have it. */
export interface Settling extends Moment, OfLease {
  kind: 'settling';
  how: 'complete' | 'release';
}

/** What the store said to it. `held` is false: the lease was lost before. */
export interface Settled extends Span, OfLease {
  kind: 'settled';
  how: 'complete' | 'release';
  held: boolean;
}

/**
 * What went wrong. `kill`, `freeze` and `server` are injected; `stall` (the machine gave a process no
 * time) and `store` (a store call was slow or failed) were seen by the process itself; `slow` was seen
 * by a probe: a write of the engine took long, or the lock of its file was held.
 */
export interface Fault extends Span {
  kind: 'fault';
  fault: 'kill' | 'freeze' | 'server' | 'stall' | 'store' | 'slow';
  /** The process that it struck; those of the server strike all. */
  pid?: number;
}
