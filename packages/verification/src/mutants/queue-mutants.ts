import { core, QUEUE_MODEL, sqlite, type Mutant } from './mutant.ts';

/** Bugs in the SQLite queue and its worker. The queue model catches all of them. */
export const QUEUE_MUTANTS: readonly Mutant[] = [
  {
    name: 'a manual retry that keeps the crash count',
    harm: 'a job that died because its process did can never be retried',
    edits: [
      {
        file: sqlite('job-statements.ts'),
        from: 'due_at = ?, crashes = 0, abandon_reason = NULL, error = NULL',
        to: 'due_at = ?, abandon_reason = NULL, error = NULL',
      },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'a manual retry of an abandoned job',
    harm: 'once the sink has failed, a manual retry calls the sink instead of the handler',
    edits: [
      {
        file: sqlite('job-statements.ts'),
        from: 'due_at = ?, crashes = 0, abandon_reason = NULL, error = NULL',
        to: 'due_at = ?, crashes = 0, error = NULL',
      },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'a job is dead though its sink failed',
    harm: 'the repaired sink is never told of the job',
    edits: [
      {
        file: core('worker/attempt-job.ts'),
        from: 'if (!sinkError)',
        to: 'if (!sinkError || !abandonReason)',
      },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'a handler that is run again because its sink failed',
    harm: 'while the sink is down, a job has no last attempt',
    edits: [
      {
        file: sqlite('jobs.ts'),
        from: 'abandonReason ?? null',
        to: 'abandonReason === undefined ? null : null',
      },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'a worker that takes a job which it runs',
    harm: 'when the clock is set forward, a process runs a job beside itself',
    edits: [
      { file: sqlite('jobs.ts'), from: 'JSON.stringify([...running])', to: "(running, '[]')" },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'leases that are not renewed',
    harm: 'a handler of more than a minute is run twice at once',
    edits: [
      {
        file: sqlite('leased-job.ts'),
        from: 'extend: () => jobs.extend(taken, leaseFor),',
        to: 'extend: () => Promise.resolve(true),',
      },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'leases that stay too long after the clock was set back',
    harm: 'the job of a dead process waits for an hour',
    edits: [
      {
        file: sqlite('jobs.ts'),
        from: 'if (this.#clock.wasSetBack(at))',
        to: 'if (this.#clock.wasSetBack(at) && at < 0)',
      },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'a result that is written without the lease',
    harm: 'a handler that lost its lease settles the job of another one',
    edits: [
      {
        file: sqlite('job-statements.ts'),
        from: "`id = ? AND token = ? AND state = 'open'`",
        to: "`id = ? AND ? <> '' AND state = 'open'`",
      },
    ],
    killedBy: QUEUE_MODEL,
  },
  {
    name: 'a close that waits for every handler',
    harm: 'a deploy hangs, and is killed',
    edits: [
      {
        file: core('worker/polling-worker.ts'),
        from: 'await waitAtMost(graceMs, Promise.all([polling, running.idle()]));',
        to: 'await waitAtMost(60_000 + graceMs, Promise.all([polling, running.idle()]));',
      },
    ],
    killedBy: QUEUE_MODEL,
  },
];
