import { setTimeout as delay } from 'node:timers/promises';
import { LEASE_MS } from './engines/engine.ts';
import type { EngineServer } from './engines/servers.ts';
import { monotonicMs, type Journal } from './journal.ts';
import type { ManagedProcess } from './managed-process.ts';
import { seededRandom } from './seeded-random.ts';

export interface FaultsOptions {
  seed: string;
  processes: readonly ManagedProcess[];
  server: EngineServer;
  journal: Journal;
  /** How many faults; two in a second, more or less. */
  count: number;
  /** Resolves when this many faults may have been injected, so that they keep to the pace of the calls. */
  mayInject: (number: number) => Promise<void>;
  /** Whether half of the server's faults are freezes. */
  freezesServer: boolean;
}

/**
 * Kills and freezes processes and the server, one after another and sometimes several at once.
 * Each recovers after a moment, and all have recovered when the returned promise resolves.
 */
export async function injectFaults(options: FaultsOptions): Promise<void> {
  const { seed, processes, server, journal, count, mayInject, freezesServer } = options;
  const affected = new Set<ManagedProcess | EngineServer>();
  const recoveries: Promise<void>[] = [];

  /** What fails is told when all have been injected, as an abrupt end would leave the server running. */
  function begin(recovery: Promise<void>): void {
    recovery.catch(() => undefined);
    recoveries.push(recovery);
  }

  async function inject(target: ManagedProcess | EngineServer, fault: () => Promise<void>) {
    if (affected.has(target)) return;
    affected.add(target);
    await fault();
    affected.delete(target);
  }

  for (let number = 0; number < count; number++) {
    const random = (what: string) => seededRandom(seed, 'fault', number, what);
    await delay(250 + 550 * random('pause'));
    await mayInject(number);
    const target = processes[Math.floor(random('process') * processes.length)] as ManagedProcess;
    const kind = random('kind');
    const length = random('length');
    if (kind < 0.35) begin(inject(target, () => killFor(target, 300 * length)));
    else if (kind < 0.88)
      begin(inject(target, () => freezeFor(target, LEASE_MS * (0.7 + 1.5 * length))));
    else if (freezesServer && random('server') < 0.5)
      begin(inject(server, () => freezeServerFor(server, journal, 2_500 * length)));
    else begin(inject(server, () => killServerFor(server, journal, 1_500 * length)));
  }
  await Promise.all(recoveries);
}

async function killFor(target: ManagedProcess, ms: number): Promise<void> {
  await target.kill();
  await delay(ms);
  await target.start();
}

async function freezeFor(target: ManagedProcess, ms: number): Promise<void> {
  const { resume } = target.freeze();
  await delay(ms);
  resume();
}

async function killServerFor(server: EngineServer, journal: Journal, ms: number): Promise<void> {
  if (!server.hasProcess) return;
  const at = monotonicMs();
  await server.kill();
  await delay(ms);
  await server.restart();
  journal.write({ kind: 'fault', fault: 'server', at, until: monotonicMs() });
}

async function freezeServerFor(server: EngineServer, journal: Journal, ms: number): Promise<void> {
  if (!server.freeze) return;
  const at = monotonicMs();
  server.freeze();
  await delay(ms);
  server.thaw?.();
  journal.write({ kind: 'fault', fault: 'server', at, until: monotonicMs() });
}
