import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { generateSecret } from '@call-webhooks/core';
import { freePort } from '@call-webhooks/contract-tests/servers/free-port';
import { startBalancer } from './balancer.ts';
import { checkHistory, type HistoryReport } from './check/check.ts';
import type { EngineName, EngineState } from './engines/engine.ts';
import { openEngine } from './engines/open-engine.ts';
import { startServer } from './engines/servers.ts';
import { explained } from './explain.ts';
import { injectFaults } from './faults.ts';
import { Journal, readJournal, type JournalEntry } from './journal.ts';
import { watchMachine } from './machine.ts';
import { ManagedProcess, startService } from './managed-process.ts';
import { probeEngine } from './monitors.ts';
import { Operator } from './operator.ts';
import { settle } from './settle.ts';

const RECEIVERS = 3;
const WORKERS = 2;
/** About two faults in the second in which six calls are placed. */
const CALLS_PER_FAULT = 3;
/** After this long without an acknowledgement the service gives up: on a busy machine the receivers may take as long to start again. */
const SERVICE_QUIET_MS = 90_000;
/** How long the engine may take to say what it has; milliseconds. */
const STATE_WITHIN_MS = 5_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface HistoryOptions {
  engine: EngineName;
  queued: boolean;
  /** The effects of handlers are in the store's database: those with `completeIn` happen once. */
  exactlyOnce: boolean;
  seed: string;
  /** How many calls are placed, six in a second; faults are injected meanwhile. */
  calls: number;
  faults: boolean;
  /** Keep the journal of a run without violations as well. */
  keep: boolean;
}

/** Runs real processes and a real server under faults, and checks the journal of the run. */
export async function runHistory(
  options: HistoryOptions,
): Promise<HistoryReport & { folder: string; explanation: string }> {
  const { engine, queued, exactlyOnce, seed, calls, faults, keep } = options;
  const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-history-'));
  const path = join(folder, 'journal');
  const journal = new Journal(path);
  const server = await startServer(engine, folder);
  const ports = await Promise.all(Array.from({ length: RECEIVERS }, freePort));
  const balancer = await startBalancer(ports);
  const processes: ManagedProcess[] = [];
  const cleanUp: (() => void)[] = [() => balancer.close()];
  let isKept = true; // whatever fails, the journal tells
  // The processes end with this one, a server would not.
  const abort = () => void server.remove().finally(() => process.exit(1));
  for (const signal of SIGNALS) process.once(signal, abort);
  try {
    const secret = generateSecret();
    const fixedFile = join(folder, 'fixed');
    const common = {
      engine,
      url: server.url,
      journal: path,
      seed,
      secret,
      queued,
      exactlyOnce,
      fixedFile,
    };
    const input = (port: number) => ({ ...common, port });
    for (const port of ports) processes.push(new ManagedProcess('receiver', input(port), journal));
    for (let number = 0; queued && number < WORKERS; number++)
      processes.push(new ManagedProcess('worker', input(0), journal));
    await Promise.all(processes.map((started) => started.start()));

    const opened = await openEngine(engine);
    const probe = probeEngine(await opened.store(server.url), journal);
    const machine = watchMachine(journal, folder);
    cleanUp.push(
      () => probe.stop(),
      () => machine.stop(),
    );
    const renewals = queued ? await opened.jobRenewals?.(server.url) : undefined;
    const operator = queued && new Operator(await opened.deadJobs(server.url), journal);
    const { url } = balancer;
    const service = await startService({
      journal: path,
      seed,
      secret,
      url,
      calls,
      quietMs: SERVICE_QUIET_MS,
    });
    cleanUp.push(() => service.stop());
    if (operator) operator.start();
    const count = Math.ceil(calls / CALLS_PER_FAULT);
    let serviceIsDone = false;
    const done = service.done.finally(() => (serviceIsDone = true));
    const mayInject = async (number: number) => {
      while (service.placed < Math.min(number * CALLS_PER_FAULT, calls) && !serviceIsDone)
        await delay(50);
    };
    const plan = { seed, count, mayInject, freezesServer: exactlyOnce };
    await Promise.all([done, faults && injectFaults({ ...plan, processes, server, journal })]);
    const effects = exactlyOnce ? await opened.effects?.(server.url) : undefined;
    const readAll = () => [...readJournal(path), ...(renewals?.read() ?? [])];
    const check = async () =>
      checkHistory(readAll(), { queued, effects: await effects?.read(), seed });
    if (operator) {
      await operator.stop();
      await writeFile(fixedFile, '');
      // The jobs may still have to run, and one that runs may die once more.
      await settle({
        isSound: async () => isSound(await check()),
        retryDead: () => operator.retryAll(),
        activity: () =>
          readJournal(path).filter(({ kind }) => kind !== 'fault' && kind !== 'control').length,
        beats: () => processes.map(({ isGone, beats }) => (isGone ? undefined : beats)),
      });
    }
    if (exactlyOnce) {
      // What is still running could commit after the check.
      await Promise.all(processes.map((started) => started.kill()));
      await delay(500);
    }
    const report = await check();
    if (isSound(report)) isKept = keep;
    const state = await opened.state(server.url);
    const explanation = await explain(report.violations, readAll(), state);
    if (isKept) await writeFile(join(folder, 'violations'), explanation);
    return { ...report, folder, explanation };
  } finally {
    for (const step of cleanUp) step();
    await Promise.all(processes.map((started) => started.kill()));
    await server.remove();
    for (const signal of SIGNALS) process.off(signal, abort);
    if (!isKept) await rm(folder, { recursive: true, force: true });
    else console.log(`The journal is in ${folder}`);
  }
}

const isSound = ({ violations, inconclusive }: HistoryReport) =>
  violations.length === 0 && inconclusive === undefined;

/** What the engine has, and the violations with their timelines. */
async function explain(
  violations: readonly string[],
  journal: readonly JournalEntry[],
  state: EngineState,
): Promise<string> {
  if (violations.length === 0) return '';
  const show = async (what: string, ask: () => Promise<unknown>) => {
    const answer = await Promise.race([
      ask().catch((error: unknown) => String(error)),
      delay(STATE_WITHIN_MS, 'no answer', { ref: false }),
    ]);
    return `  ${what}: ${inspect(answer, { depth: 4, breakLength: 200 })}`;
  };
  return [
    ...(state.stats
      ? [await show('jobs of the queue', () => state.stats?.() ?? Promise.resolve())]
      : []),
    await explained(violations, journal, (key) => show('rows now', () => state.rows(key))),
    '',
  ].join('\n');
}
