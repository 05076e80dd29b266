import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';
import {
  describeWithProgram,
  postgresBinaries,
  redisServer,
  serveLocally,
  startPostgres,
} from '@call-webhooks/contract-tests';
import { createReceiver } from '@call-webhooks/core';
import { nodeHandler } from '@call-webhooks/core/node';
import type { ReconcileResult } from '@call-webhooks/recovery';
import { startSimulator } from '@call-webhooks/simulator';
import { openEngine, type EngineName } from '../redrive/engines.ts';
import type { RecovererInput } from './recoverer.ts';

const MISSED = 200;
const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-reconcile-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the process until it ends or is killed. */
async function recover(input: RecovererInput) {
  const path = fileURLToPath(new URL('./recoverer.ts', import.meta.url));
  const child = fork(path, [JSON.stringify(input)], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
  let result: ReconcileResult | undefined;
  child.on('message', (said: { result: ReconcileResult }) => {
    ({ result } = said);
  });
  await once(child, 'exit');
  return { result, killed: child.signalCode === 'SIGKILL' };
}

/** One 404, the rule is paused, 200 calls are missed, the receiver is killed, duplicates come late. */
async function proof(engine: EngineName, url: string): Promise<void> {
  const began = Date.now() - 10 * 3_600_000;
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: began, patience: 10_000, pageSize: 20 },
  });
  const { store, close } = await openEngine(engine, url);
  const effects = join(folder, `effects-${engine}`);
  writeFileSync(effects, '');
  const receiver = createReceiver({
    secret: () => simulator.secrets.all(),
    store,
    on: {
      'call:completed': ({ callId }, { source }) => {
        appendFileSync(effects, `${source} ${String(callId)}\n`);
      },
    },
  });
  const handle = nodeHandler(receiver);
  let isDeployedWrongly = false;
  const served = await serveLocally((request, response) => {
    if (isDeployedWrongly) response.writeHead(404).end();
    else void handle(request, response);
  });
  try {
    const rule = simulator.rules.create({
      ...{ trigger: 'call:completed', scope: 'workspace' },
      actions: [{ url: `${served.origin}/hook` }],
    });
    const place = async (count: number) => {
      for (let made = 0; made < count; made++)
        simulator.calls.place({ durationSeconds: 20, recorded: false });
      await simulator.clock.advance('2m');
      await simulator.events.settled();
    };
    await place(10);
    isDeployedWrongly = true;
    await place(1);
    expect(simulator.rules.get(rule._id)).toMatchObject({
      ...{ state: 'paused', pauseReason: 'responded-404' },
    });
    isDeployedWrongly = false;
    await place(MISSED - 1);

    const service = { baseUrl: simulator.url, apiToken: simulator.apiToken };
    const [secret = ''] = simulator.secrets.all();
    const input = { engine, url, effects, secret, service, since: began };
    expect(await recover({ ...input, killedInRun: 81 })).toMatchObject({ killed: true });
    expect(readFileSync(effects, 'utf8').split('\n')).toHaveLength(10 + 80 + 1);
    await new Promise((resolve) => setTimeout(resolve, 1_100)); // the lease of the dead process
    const { result } = await recover(input);
    expect(result).toMatchObject({ failed: 0, skipped: 0 });

    simulator.rules.resume(rule._id);
    const late = simulator.events.list({ state: 'dropped' });
    expect(late.length).toBeGreaterThanOrEqual(MISSED - 1);
    for (const { _id } of late) simulator.events.resend(_id);
    await simulator.clock.runUntilIdle();

    const lines = readFileSync(effects, 'utf8').trim().split('\n');
    const calls = simulator.calls.list().map(({ _id }) => _id);
    expect(calls).toHaveLength(10 + MISSED);
    expect(lines.map((line) => line.split(' ')[1]).sort()).toEqual(calls.sort());
    expect(lines.filter((line) => line.startsWith('webhook'))).toHaveLength(10);
  } finally {
    await served.close();
    await receiver.close();
    await close();
    await simulator.close();
  }
}

it('SQLite: each missed event is handled once, and nothing runs again', async () => {
  await proof('sqlite', join(folder, 'calls.db'));
});

describeWithProgram('redis-server', 'Redis', () => {
  it('each missed event is handled once, and nothing runs again', async () => {
    const server = await redisServer();
    await server.start();
    try {
      await proof('redis', `redis://127.0.0.1:${String(server.port)}`);
    } finally {
      await server.stop();
    }
  });
});

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'Postgres',
  () => {
    it('each missed event is handled once, and nothing runs again', async () => {
      const server = await startPostgres();
      try {
        await proof('postgres', server.url);
      } finally {
        await server.remove();
      }
    });
  },
);
