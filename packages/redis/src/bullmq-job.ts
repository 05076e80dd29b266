import { setTimeout as delay } from 'node:timers/promises';
import type { QueuedDelivery } from '@call-webhooks/core';
import type { JobProcessor } from '@call-webhooks/core/stores';
import { RELEASE_MS } from '@call-webhooks/core/internal';
import { BACKOFF_TYPE } from './bullmq-backoff.ts';
import type { LockedJob } from './bullmq-lock.ts';

/** How often a call of Redis is tried before its job is left to another worker. */
const TRIES = 5;
const TRY_EVERY_MS = 100;

/** What a worker notes in a job's data, for the next run. */
interface WorkerNote {
  /** No handler is run any more, for this reason: `deadLetter` failed. */
  abandonReason?: string;
  /** Crashes up to when the job was given up. They do not count if it is retried by hand. */
  crashes?: number;
  /** The job was given up before its last attempt: if it is retried by hand, the next run is the last. */
  isLastRun?: boolean;
}

/** What is used of BullMQ's `Job`. */
export interface BullmqJobLike extends LockedJob {
  id?: string | undefined;
  data: QueuedDelivery & { workerNote?: WorkerNote };
  attemptsMade: number;
  attemptsStarted: number;
  /** How many workers died in it. */
  stalledCounter: number;
  opts: { attempts?: number | undefined };
  updateData(data: BullmqJobLike['data']): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

interface Run {
  process: JobProcessor;
  strategy: (attempt: number, type: string) => number;
  token: string;
  /** How long the job's lock lasts; milliseconds. */
  lockDuration: number;
  signal: AbortSignal;
  maxCrashes: number;
}

/** One run of a job. What it throws tells BullMQ what to do; BullMQ knows its errors by their names. */
export async function runBullmqJob(job: BullmqJobLike, run: Run): Promise<void> {
  const { workerNote = {}, ...delivery } = job.data;
  const attempt = job.attemptsStarted;
  const crashes = job.stalledCounter - (workerNote.crashes ?? 0);
  const reason =
    workerNote.abandonReason ??
    (crashes > run.maxCrashes ? `${String(crashes)} workers died in this job.` : undefined);
  const maxRuns = job.opts.attempts ?? 1;
  const isLastAttempt = workerNote.isLastRun === true || job.attemptsMade + 1 >= maxRuns;
  const result = await run.process(delivery, {
    attempt,
    maxRuns,
    isLastAttempt,
    abandonReason: reason === undefined ? undefined : new Error(reason),
    signal: run.signal,
  });
  if (result.status === 'done') return;
  if (result.status === 'dead') {
    if (reason !== undefined || !isLastAttempt)
      await writeNote(job, run, { crashes: job.stalledCounter, isLastRun: true });
    throw named('UnrecoverableError', result.error);
  }
  if (result.abandonReason === undefined) throw result.error;
  // The attempts are used up, but `deadLetter` failed: BullMQ would give the job up as well.
  const { abandonReason } = result;
  try {
    if (await writeNote(job, run, { ...workerNote, abandonReason }))
      await repeat(run.signal, () =>
        job.moveToDelayed(Date.now() + run.strategy(attempt, BACKOFF_TYPE), run.token),
      );
  } catch {
    // The job stays active. BullMQ takes it for stalled when its lock has run out, and runs it again.
  }
  throw named('DelayedError', result.error);
}

/**
 * Writes a note for the next run.
 * @returns `false` if the lock was lost: the next run has begun, and the note is its own
 */
async function writeNote(job: BullmqJobLike, run: Run, workerNote: WorkerNote): Promise<boolean> {
  let isHeld = false;
  await repeat(run.signal, async () => {
    // BullMQ's `updateData` asks for no lock. An extended one is not lost before the note is written.
    isHeld = (await job.extendLock(run.token, run.lockDuration)) !== 0;
    if (isHeld) await job.updateData({ ...job.data, workerNote });
  });
  return isHeld;
}

/** Gives a job back that was not run. If its lock was lost, it is in the queue already. */
export async function giveBack(job: BullmqJobLike, token: string | undefined): Promise<never> {
  // Later, since a worker that closes may still wait for a job that is due.
  await job.moveToDelayed(Date.now() + RELEASE_MS, token).catch(() => undefined);
  throw named('DelayedError', new Error('The worker closed, or lost the lock of the job.'));
}

/** Calls Redis up to `TRIES` times, for instance during a failover, until the job is aborted. */
async function repeat(signal: AbortSignal, call: () => Promise<void>): Promise<void> {
  for (let left = TRIES - 1; ; left--) {
    try {
      await call();
      return;
    } catch (error) {
      if (left === 0 || signal.aborted) throw error;
      await delay(TRY_EVERY_MS, undefined, { signal });
    }
  }
}

const named = (name: string, cause: Error) =>
  Object.assign(new Error(cause.message, { cause }), { name });
