import { setTimeout as delay } from 'node:timers/promises';

/** After so many quiet seconds a run is over: more than leases, back-off and timeouts take. */
const QUIET_SECONDS = 20;
/** A run that is not over by then ends as it is; seconds in which somebody looked. */
const MOST_SECONDS = 600;

/** How a run looks at its end. */
export interface RunAtItsEnd {
  /** Whether the check finds nothing. */
  readonly isSound: () => boolean | Promise<boolean>;
  /** Retries all dead jobs by hand, and resolves with how many there were. May reject while others write. */
  readonly retryDead: () => Promise<number>;
  /** How much has happened so far. */
  readonly activity: () => number;
  /** How often each process has said that it runs; `undefined` for one that is gone. */
  readonly beats: () => readonly (number | undefined)[];
  /** Replaced by tests. */
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/**
 * Waits until no job is dead, and either everything has its effect or nothing happens any more. Seconds are
 * counted by looking, not read from a clock: while the machine stands still, no job could run. A second in which
 * a process did not get to run is not quiet either.
 * @throws what `retryDead` rejects with, if it does to the end
 */
export async function settle(run: RunAtItsEnd): Promise<void> {
  const { isSound, retryDead, activity, beats, sleep = (ms) => delay(ms) } = run;
  let quiet = 0;
  let last = { activity: -1, beats: beats() };
  let checkedAt = -1;
  let failure: { error: unknown } | undefined;
  for (let seconds = 0; seconds < MOST_SECONDS; seconds++) {
    let dead = 1;
    try {
      dead = await retryDead();
      failure = undefined;
    } catch (error) {
      failure = { error };
    }
    const now = { activity: activity(), beats: beats() };
    if (dead === 0 && now.activity !== checkedAt) {
      checkedAt = now.activity;
      if (await isSound()) return;
    }
    const allRan = now.beats.every((count, n) => count === undefined || count !== last.beats[n]);
    if (dead > 0 || now.activity !== last.activity) quiet = 0;
    else if (allRan) quiet += 1;
    if (quiet >= QUIET_SECONDS) return;
    last = now;
    await sleep(1_000);
  }
  if (failure) throw failure.error;
}
