import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateSecret } from '@call-webhooks/core';
import { freePort } from '@call-webhooks/contract-tests/servers/free-port';
import { checkHistory } from './check/check.ts';
import type { Report } from './check/report.ts';
import { monotonicMs } from './clock.ts';
import { engineOf } from './engines/engine-of.ts';
import type { EngineName } from './engines/engine.ts';
import { startServer } from './engines/servers.ts';
import { injectFaults } from './faults.ts';
import { Journal, readJournal } from './journal.ts';
import { Member } from './member.ts';
import type { Planted } from './planted.ts';
import { watchServer } from './server-watch.ts';
import { startBalancer } from './service/balancer.ts';
import { startService } from './service.ts';

const RECEIVERS = 3;
const WORKERS = 2;
/** When nothing has happened for so long, nothing will. Longer than leases, back-off and time-outs. */
const QUIET_MS = 20_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface HistoryOptions {
  engine: EngineName;
  queued: boolean;
  seed: string;
  /** How long events are sent and faults injected. */
  seconds: number;
  faults: boolean;
  planted?: Planted | undefined;
  /** Keep the journal, and say where. */
  keep: boolean;
}

/** One run: real processes, a real server, faults, and what the journal of it all comes to. */
export async function runHistory(options: HistoryOptions): Promise<Report & { folder: string }> {
  const { engine, queued, seed, seconds, faults, planted, keep } = options;
  const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-history-'));
  const path = join(folder, 'journal');
  const journal = new Journal(path);
  const server = await startServer(engine, folder);
  const ports = await Promise.all(Array.from({ length: RECEIVERS }, freePort));
  const balancer = await startBalancer(ports);
  const members: Member[] = [];
  const stopping: (() => void)[] = [() => balancer.close()];
  // Members end by themselves with us; a server would stay.
  const stop = () => void server.remove().finally(() => process.exit(1));
  for (const signal of SIGNALS) process.once(signal, stop);
  try {
    const secret = generateSecret();
    const common = { engine, url: server.url, journal: path, seed, secret, queued, planted };
    const input = (port: number) => ({ ...common, port, folder: join(folder, 'planted') });
    for (const port of ports) members.push(new Member('receiver', input(port), journal));
    for (let number = 0; queued && number < WORKERS; number++)
      members.push(new Member('worker', input(0), journal));
    await Promise.all(members.map((member) => member.start()));

    const opened = await engineOf(engine);
    const watch = watchServer(await opened.store(server.url), journal);
    stopping.push(() => watch.stop());
    const ms = seconds * 1_000;
    const { url } = balancer;
    const service = await startService({ journal: path, seed, secret, url, ms, quietMs: QUIET_MS });
    stopping.push(() => service.stop());
    await Promise.all([
      service.done,
      faults && injectFaults({ seed, members, server, journal, ms }),
    ]);
    const check = () => checkHistory(readJournal(path), { queued });
    // What is queued may still have to be run.
    while (queued && check().violations.length > 0 && !(await isQuiet(path)));
    return { ...check(), folder };
  } finally {
    for (const end of stopping) end();
    await Promise.all(members.map((member) => member.kill()));
    await server.remove();
    for (const signal of SIGNALS) process.off(signal, stop);
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
}

/** Whether nothing is written for `QUIET_MS`; resolves earlier when something is. */
async function isQuiet(path: string): Promise<boolean> {
  const { size } = await stat(path);
  const from = monotonicMs();
  while (monotonicMs() - from < QUIET_MS) {
    await delay(1_000);
    if ((await stat(path)).size > size) return false;
  }
  return true;
}
