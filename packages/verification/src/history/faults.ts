import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from './clock.ts';
import { draw } from './draw.ts';
import { LEASE_MS } from './engines/engine.ts';
import type { EngineServer } from './engines/servers.ts';
import type { Journal } from './journal.ts';
import type { Member } from './member.ts';

export interface FaultsOptions {
  seed: string;
  members: readonly Member[];
  server: EngineServer;
  journal: Journal;
  /** For how long; milliseconds. All is well again when `injectFaults` resolves. */
  ms: number;
}

/** Kills and freezes, one after another and sometimes at once, each mended after a moment. */
export async function injectFaults(options: FaultsOptions): Promise<void> {
  const { seed, members, server, journal, ms } = options;
  const busy = new Set<Member | EngineServer>();
  const mending: Promise<void>[] = [];
  const end = monotonicMs() + ms;

  async function struck(what: Member | EngineServer, strike: () => Promise<void>): Promise<void> {
    if (busy.has(what)) return;
    busy.add(what);
    await strike();
    busy.delete(what);
  }

  for (let step = 0; monotonicMs() < end; step++) {
    const number = (what: string) => draw(seed, 'fault', step, what);
    await delay(250 + 550 * number('pause'));
    const member = members[Math.floor(number('member') * members.length)] as Member;
    const kind = number('kind');
    if (kind < 0.35) mending.push(struck(member, () => killed(member, 300 * number('length'))));
    else if (kind < 0.88) {
      const length = LEASE_MS * (0.7 + 1.5 * number('length'));
      mending.push(struck(member, () => frozen(member, length)));
    } else
      mending.push(struck(server, () => serverAway(server, journal, 1_500 * number('length'))));
  }
  await Promise.all(mending);
}

async function killed(member: Member, ms: number): Promise<void> {
  await member.kill();
  await delay(ms);
  await member.start();
}

async function frozen(member: Member, ms: number): Promise<void> {
  const { thaw } = member.freeze();
  await delay(ms);
  thaw();
}

async function serverAway(server: EngineServer, journal: Journal, ms: number): Promise<void> {
  if (!server.hasProcess) return;
  const at = monotonicMs();
  await server.kill();
  await delay(ms);
  await server.restart();
  journal.write({ kind: 'fault', fault: 'server', at, until: monotonicMs() });
}
