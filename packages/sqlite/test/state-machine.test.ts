import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import fc from 'fast-check';
import { createSqliteWorker, sqliteDeadJobs, sqliteQueue } from '../src/index.ts';
import type { SqliteDatabase, SqliteQueue } from '../src/index.ts';

// Random scenarios of two processes on one queue and a fake clock, beside a model of its jobs.
// QUEUE_RUNS=400 runs more of them, and another SEED other ones.

const MAX_ATTEMPTS = 3;
/** Runs beyond the last attempt that may end with their process (docs/queues.md). */
const EXTRA_CRASHES = 3;
/** Milliseconds; the lease is renewed at each third. */
const LEASE_MS = 60_000;
const POLL_MS = 10_000;
const GRACE_MS = 200;

/** What a handler does: succeed, throw, or run until the scenario ends it. */
type Behaviour = 'ok' | 'fail' | 'slow';

interface Process {
  queue: SqliteQueue;
  /** Whether what it does reaches the database. */
  isAlive: boolean;
  /** When `close()` gives back what still runs. */
  releasesAt: number;
  close(graceMs: number): Promise<void>;
}

/** One run of a job: of its handler, or only of the sink. */
interface Run {
  process: Process;
  job: Job;
  startedAt: number;
  end(ok: boolean): void;
}

/** What should be true of one job. */
interface Job {
  state: 'open' | 'dead' | 'done';
  plan: Behaviour[];
  runs: Run[];
  /** The run that has the lease, or had it when its process died. */
  current: Run | undefined;
  /** When the lease ends of a run whose process died. */
  leaseEndsAt: number;
  /** The last runs in a row that ended with their process. */
  crashes: number;
  /** The attempts are used up and the sink failed: only the sink is called from now on. */
  isAbandoned: boolean;
  sinkAccepted: boolean;
}

/** Whether what a run writes has an effect. */
const isCurrent = (run: Run) =>
  run.job.current === run && run.process.isAlive && Date.now() < run.process.releasesAt;

const settle = (job: Job, state: Job['state']) =>
  Object.assign(job, { state, crashes: 0, current: undefined });

function createMachine(db: SqliteDatabase) {
  const seen = new Set<string>();
  const jobs = new Map<string, Job>();
  let slow: Run[] = [];
  let statements = 0;
  let [sinkFails, isCalm] = [false, false];
  /** What the model forbids. A worker would take it for a failed handler. */
  const violations: unknown[] = [];
  const processes = [startProcess(), startProcess()];
  const queue = () => processes[0]!.queue;
  const deadJobs = async () => (await sqliteDeadJobs(queue()).list()).letters;
  const count = (state: Job['state']) =>
    [...jobs.values()].filter((job) => job.state === state).length;

  function startProcess(): Process {
    const reach = <T>(run: () => T): T => {
      if (!self.isAlive) throw new Error('The process is dead.');
      statements += 1;
      return run();
    };
    const self = { isAlive: true, releasesAt: Infinity } as Process;
    self.queue = sqliteQueue({
      exec: (sql) => reach(() => db.exec(sql)),
      prepare(sql) {
        const statement = db.prepare(sql);
        return {
          all: (...values: unknown[]) => reach(() => statement.all(...values)),
          run: (...values: unknown[]) => reach(() => statement.run(...values)),
        };
      },
    });
    const worker = createSqliteWorker(self.queue, {
      ...{ concurrency: 2, maxRuns: MAX_ATTEMPTS, leaseFor: LEASE_MS, pollEvery: POLL_MS },
      backoff: { initialDelay: 1_000, maxDelay: 8_000 },
      logger: { warn: () => undefined, error: () => undefined },
      on: { 'call:completed': (_event, { key = '', attempt }) => handle(self, key, attempt) },
      deadLetter: ({ key = '', attempt }) => {
        sink(self, key, attempt);
      },
    });
    self.close = (graceMs) => worker.close({ graceMs });
    return self;
  }

  /** A worker took a job, to run its handler or only to call the sink. */
  function begin(process: Process, key: string, attempt: number, what: 'handler' | 'sink'): Run {
    const job = jobs.get(key)!;
    const { current } = job;
    const isOrphan = current?.process.isAlive === false;
    if (isOrphan) job.crashes += 1;
    if (current) seen.add(isOrphan ? 'a takeover' : 'two runs at once');
    const isGivenUp = attempt > MAX_ATTEMPTS && job.crashes > EXTRA_CRASHES;
    const isLeased = current && (isOrphan ? Date.now() < job.leaseEndsAt : isCurrent(current));
    expect({ key, state: job.state, isLeased: isLeased === true, attempt, what }).toEqual({
      ...{ key, state: 'open', isLeased: false, attempt: job.runs.length + 1 },
      what: job.isAbandoned || isGivenUp ? 'sink' : 'handler',
    });
    const run: Run = { process, job, startedAt: Date.now(), end: () => undefined };
    job.runs.push(run);
    job.current = run;
    return run;
  }

  function checked(work: () => void): void {
    try {
      work();
    } catch (error) {
      violations.push(error);
    }
  }

  function handle(process: Process, key: string, attempt: number): Promise<void> {
    return new Promise((resolve, reject) => {
      checked(() => {
        const run = begin(process, key, attempt, 'handler');
        run.end = (ok) => {
          if (isCurrent(run) && (ok || attempt < MAX_ATTEMPTS))
            settle(run.job, ok ? 'done' : 'open');
          if (ok) resolve();
          else reject(new Error('the handler failed'));
        };
        const behaviour = isCalm ? 'ok' : (run.job.plan.shift() ?? 'ok');
        if (behaviour === 'slow') slow.push(run);
        else run.end(behaviour === 'ok');
      });
    });
  }

  function sink(process: Process, key: string, attempt: number): void {
    checked(() => {
      const failed = jobs.get(key)?.runs[attempt - 1];
      if (!failed) seen.add('a call of the sink alone');
      const run = failed ?? begin(process, key, attempt, 'sink');
      seen.add(sinkFails ? 'a sink that failed' : 'a dead letter');
      if (!isCurrent(run)) return; // it lost its lease
      expect({ key, sinkAccepted: run.job.sinkAccepted }).toEqual({ key, sinkAccepted: false });
      Object.assign(run.job, { isAbandoned: sinkFails, sinkAccepted: !sinkFails });
      settle(run.job, sinkFails ? 'open' : 'dead');
    });
    if (sinkFails) throw new Error('the sink is down');
  }

  /** Until no process uses the database any more. */
  async function rest(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet++) {
      const before = statements;
      await new Promise(setImmediate);
      if (statements > before) quiet = -1;
    }
  }

  /** From timer to timer; then the queue has the jobs of the model, each in its state. */
  async function advance(ms: number): Promise<void> {
    const end = { isReached: false };
    setTimeout(() => (end.isReached = true), ms);
    await rest();
    while (!end.isReached) {
      jest.advanceTimersToNextTimer();
      await rest();
    }
    if (violations.length > 0) throw violations[0];
    const { waiting, delayed, running, done, dead } = await queue().stats();
    const expected = { open: count('open'), done: count('done'), dead: count('dead') };
    expect({ open: waiting + delayed + running, done, dead }).toEqual(expected);
    for (const { key = '', attempt } of await deadJobs()) {
      const job = jobs.get(key)!;
      expect(job).toMatchObject({ state: 'dead', sinkAccepted: true });
      expect(job.runs).toHaveLength(attempt);
    }
  }

  async function restart(at: number): Promise<void> {
    processes[at] = startProcess();
    await advance(0);
  }

  const commands = {
    advance,
    /** The service delivers a call, perhaps not for the first time. */
    async enqueue(at: number, call: number, plan: Behaviour[]) {
      const key = `call-${String(call)}:call:completed`;
      if (jobs.has(key)) seen.add('a duplicate');
      else
        jobs.set(key, {
          ...{ state: 'open', plan: [...plan], runs: [], current: undefined },
          ...{ leaseEndsAt: 0, crashes: 0, isAbandoned: false, sinkAccepted: false },
        });
      await processes[at]!.queue.enqueue(queuedCall(`call-${String(call)}`));
      await advance(0);
    },
    /** Ends a slow handler. */
    async finish(which: number, ok: boolean) {
      const [run] = slow.splice(which % slow.length, 1);
      if (!isCurrent(run!)) seen.add('a handler that ended after its lease');
      run!.end(ok);
      await advance(0);
    },
    /** A process dies with its handlers, and another one is started. */
    async crash(at: number) {
      const process = processes[at]!;
      for (const { job, startedAt } of slow.filter(isCurrent)) {
        const renewals = Math.floor((Date.now() - startedAt) / (LEASE_MS / 3));
        job.leaseEndsAt = startedAt + (renewals * LEASE_MS) / 3 + LEASE_MS;
      }
      process.isAlive = false;
      void process.close(0); // stops its timers
      slow = slow.filter((run) => run.process !== process);
      await restart(at);
    },
    /** Each process that takes the job dies, and so the job is given up. */
    async crashEachTime(call: number) {
      await commands.enqueue(0, call, Array<Behaviour>(6).fill('slow'));
      for (let times = 0; times < 5; times++) {
        for (const at of [0, 1]) await commands.crash(at);
        await advance(LEASE_MS + POLL_MS);
      }
    },
    /** A deploy. Handlers that are still running do not end. */
    async close(at: number) {
      const process = processes[at]!;
      process.releasesAt = Date.now() + GRACE_MS;
      let isClosed = false;
      void process.close(GRACE_MS).then(() => (isClosed = true));
      await advance(GRACE_MS);
      expect({ isClosed }).toEqual({ isClosed: true });
      await restart(at);
    },
    setSinkFault(fails: boolean) {
      sinkFails = fails;
      return Promise.resolve();
    },
    async requeue(at: number, which: number, plan: Behaviour[]) {
      seen.add('a manual retry');
      const letters = await deadJobs();
      const { id, key = '' } = letters[which % letters.length]!;
      const job = jobs.get(key)!;
      settle(job, 'open');
      Object.assign(job, { plan: [...plan], isAbandoned: false, sinkAccepted: false });
      expect(await sqliteDeadJobs(processes[at]!.queue).requeue(id)).toBe(true);
      await advance(0);
    },
  };
  return {
    seen,
    ...commands,
    can(name: keyof typeof commands): boolean {
      if (name === 'finish') return slow.length > 0;
      return name !== 'requeue' || count('dead') > 0;
    },
    /** All faults end. Then each job has to be handled, or dead and handled after a manual retry. */
    async drain() {
      [sinkFails, isCalm] = [false, true];
      while (slow.length > 0) await commands.finish(0, true);
      await advance(LEASE_MS + 4 * POLL_MS);
      while (count('dead') > 0) await commands.requeue(0, 0, []);
      await advance(2 * POLL_MS);
      expect({ open: count('open'), dead: count('dead') }).toEqual({ open: 0, dead: 0 });
    },
  };
}

type Machine = ReturnType<typeof createMachine>;
type Arbitraries<Values extends unknown[]> = {
  [At in keyof Values]: fc.Arbitrary<Values[At]>;
};

const at = fc.nat(1);
const call = fc.nat(5);
const any = fc.nat(1_000);
const behaviour = fc.constantFrom<Behaviour>('ok', 'fail', 'fail', 'fail', 'slow', 'slow');
const plan = fc.array(behaviour, { minLength: 1, maxLength: 6 });
const ms = fc.constantFrom(100, 1_100, 5_000, 19_000, 21_000, 59_000, 61_000, 130_000);

function steps<Name extends Exclude<keyof Machine, 'seen' | 'can' | 'drain'>>(
  name: Name,
  ...args: Arbitraries<Parameters<Machine[Name]>>
): fc.Arbitrary<fc.AsyncCommand<Machine, Machine>> {
  return fc.tuple(...(args as fc.Arbitrary<unknown>[])).map((values) => ({
    check: (machine) => machine.can(name),
    run: (_model, machine) => (machine[name] as (...all: unknown[]) => Promise<void>)(...values),
    toString: () => `${name}(${JSON.stringify(values).slice(1, -1)})`,
  }));
}

const [enqueue, advance] = [steps('enqueue', at, call, plan), steps('advance', ms)];
const [finish, requeue] = [steps('finish', any, fc.boolean()), steps('requeue', at, any, plan)];
const scenarios = fc.commands(
  [
    ...[enqueue, enqueue, enqueue, advance, advance, advance, finish, finish, requeue, requeue],
    ...[steps('setSinkFault', fc.boolean()), steps('crash', at), steps('crashEachTime', call)],
    ...[steps('close', at), steps('close', at)],
  ],
  { maxCommands: 40, size: 'max' },
);

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'hrtime'] });
  jest.spyOn(Math, 'random').mockReturnValue(0.5); // the backoff is the same in each run
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

it('loses no job, and runs none twice at once, whatever happens to its workers', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(scenarios, async (commands) => {
      jest.clearAllTimers();
      const db = new Database(':memory:');
      const machine = createMachine(db);
      await fc.asyncModelRun(() => ({ model: machine, real: machine }), commands);
      await machine.drain();
      db.close();
      for (const what of machine.seen) seen.add(what);
    }),
    {
      seed: Number(process.env['SEED'] ?? 1),
      numRuns: Number(process.env['QUEUE_RUNS'] ?? 8),
    },
  );
  // What the scenarios must contain together; otherwise they would show too little.
  expect([...seen].sort()).toEqual([
    ...['a call of the sink alone', 'a dead letter', 'a duplicate'],
    ...['a handler that ended after its lease', 'a manual retry', 'a sink that failed'],
    ...['a takeover', 'two runs at once'],
  ]);
}, 600_000);
