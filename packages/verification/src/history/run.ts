import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateSecret } from '@call-webhooks/core';
import { freePort } from '@call-webhooks/contract-tests/servers/free-port';
import { startBalancer } from './balancer.ts';
import { checkHistory, type HistoryReport } from './check/check.ts';
import type { EngineName } from './engines/engine.ts';
import { openEngine } from './engines/open-engine.ts';
import { startServer } from './engines/servers.ts';
import { injectFaults } from './faults.ts';
import { Journal, monotonicMs, readJournal } from './journal.ts';
import { ManagedProcess, startService } from './managed-process.ts';
import { probeEngine } from './monitors.ts';
import { Operator } from './operator.ts';

const RECEIVERS = 3;
const WORKERS = 2;
/** About two faults in the second in which six calls are placed. */
const CALLS_PER_FAULT = 3;
/** After this long without any activity a run is over: longer than leases, back-off and timeouts. */
const QUIET_MS = 20_000;
/** The same for the service: on a busy machine the receivers may take as long to start again. */
const SERVICE_QUIET_MS = 90_000;
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
  /** Keep the journal. */
  keep: boolean;
}

/** Runs real processes and a real server under faults, and checks the journal of the run. */
export async function runHistory(
  options: HistoryOptions,
): Promise<HistoryReport & { folder: string }> {
  const { engine, queued, exactlyOnce, seed, calls, faults, keep } = options;
  const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-history-'));
  const path = join(folder, 'journal');
  const journal = new Journal(path);
  const server = await startServer(engine, folder);
  const ports = await Promise.all(Array.from({ length: RECEIVERS }, freePort));
  const balancer = await startBalancer(ports);
  const processes: ManagedProcess[] = [];
  const cleanUp: (() => void)[] = [() => balancer.close()];
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
    cleanUp.push(() => probe.stop());
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
    const check = async () =>
      checkHistory(readJournal(path), { queued, effects: await effects?.read(), seed });
    if (operator) {
      await operator.stop();
      await writeFile(fixedFile, '');
      // The jobs may still have to run, and one that runs may die once more.
      for (let isOver = false; !isOver;) {
        isOver = (await check()).violations.length === 0 || (await isQuiet(path));
        if ((await operator.retryAll()) > 0) isOver = false;
        if (!isOver) await delay(1_000);
      }
    }
    if (exactlyOnce) {
      // What is still running could commit after the check.
      await Promise.all(processes.map((started) => started.kill()));
      await delay(500);
    }
    return { ...(await check()), folder };
  } finally {
    for (const step of cleanUp) step();
    await Promise.all(processes.map((started) => started.kill()));
    await server.remove();
    for (const signal of SIGNALS) process.off(signal, abort);
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
}

/** Whether nothing is written for `QUIET_MS`. Resolves at once when something is. */
async function isQuiet(path: string): Promise<boolean> {
  const { size } = await stat(path);
  const from = monotonicMs();
  while (monotonicMs() - from < QUIET_MS) {
    await delay(1_000);
    if ((await stat(path)).size > size) return false;
  }
  return true;
}
