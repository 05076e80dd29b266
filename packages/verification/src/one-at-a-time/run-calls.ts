import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateSecret } from '@call-webhooks/core';
import { freePort } from '@call-webhooks/contract-tests/servers/free-port';
import type { EngineName } from '../history/engines/engine.ts';
import { startServer } from '../history/engines/servers.ts';
import { seededRandom } from '../history/seeded-random.ts';
import { checkCalls, type CallReport } from './check-calls.ts';
import { openCallJournal, readCallJournal } from './journal.ts';
import { ReceiverProcess } from './receiver-process.ts';
import { sendCalls } from './send-calls.ts';

const RECEIVERS = 3;
/** Milliseconds from the restart of one receiver to the kill of the next. */
const PAUSE_MS = 500;

export interface RunCallsOptions {
  engine: EngineName;
  seed: string;
  calls: number;
  /** Without it, the runs of a call overlap: the check has to find that. */
  oneAtATime: boolean;
}

/** Runs receivers in processes that are killed while both events of many calls arrive at once. */
export async function runCalls(options: RunCallsOptions): Promise<CallReport> {
  const { engine, seed, calls, oneAtATime } = options;
  const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-calls-'));
  const journal = join(folder, 'journal');
  const write = openCallJournal(journal);
  const server = await startServer(engine, folder);
  const secret = generateSecret();
  const ports = await Promise.all(Array.from({ length: RECEIVERS }, freePort));
  const common = { engine, url: server.url, journal, seed, secret, oneAtATime };
  const receivers = ports.map((port) => new ReceiverProcess({ ...common, port }, write));
  try {
    await Promise.all(receivers.map((receiver) => receiver.start()));
    let sent = false;
    const killing = async () => {
      for (let number = 0; ; number++) {
        await delay(PAUSE_MS);
        if (sent) return;
        const which = Math.floor(seededRandom(seed, 'kill', number) * RECEIVERS);
        const receiver = receivers[which] as ReceiverProcess;
        await receiver.kill();
        await receiver.start();
      }
    };
    const sending = sendCalls({ seed, secret, ports, calls }).then(() => (sent = true));
    await Promise.all([sending, killing()]);
    return checkCalls(readCallJournal(journal), 2 * calls);
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.kill()));
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  }
}
