import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from '@jest/globals';
import {
  postgresBinaries,
  redisServer,
  startPostgres,
  startSender,
  waitFor,
} from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { generateSecret } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import type { CallTimeline, DeadLettersPage, DeliveriesPage, Overview } from '../src/api-types.ts';
import { callBody } from './support.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const APP = fileURLToPath(new URL('support-app.ts', import.meta.url));
const SOURCES = ['--import', 'tsx', '--conditions=@call-webhooks/source'];

/** Starts a receiver with a console in a process of its own. */
async function startApp(secret: string, engine = 'memory', url = '') {
  const child: ChildProcess = spawn(process.execPath, [...SOURCES, APP, secret, engine, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  closing.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  if (!child.stdout) throw new Error('The app has no output.');
  let origin: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    const [, port] = /^port (\d+)$/.exec(line) ?? [];
    if (port !== undefined) origin = `http://127.0.0.1:${port}`;
    if (origin !== undefined) break;
  }
  if (origin === undefined) throw new Error('The app did not start.');
  const api = `${origin}/ops/webhooks/api`;
  const get = async <T>(path: string) => (await fetch(`${api}${path}`)).json() as Promise<T>;
  return { pid: child.pid, hook: `${origin}/hook`, get };
}

it('shows what the simulator sent to a receiver in another process', async () => {
  const simulator = await startSimulator({ clock: 'manual', seed: 1 });
  closing.push(() => simulator.close());
  const secret = generateSecret();
  const { hook, get, pid } = await startApp(secret);
  for (const trigger of ['call:started', 'call:completed'] as const)
    simulator.rules.create({ trigger, scope: 'workspace', actions: [{ url: hook, secret }] });
  const calls = [];
  for (let made = 0; made < 3; made += 1) {
    calls.push(simulator.calls.place({ durationSeconds: 20 })._id);
    await simulator.clock.advance('1m');
  }

  const overview = await get<Overview>('/overview');
  expect(overview.hour.summary).toMatchObject({
    ...{ deliveries: 6, acknowledged: 6, failed: 0, refused: 0 },
    outcomes: { handled: 6 },
    handlerMs: { count: 6 },
  });
  expect(overview.processes).toMatchObject([{ pid }]);
  expect(overview.secrets).toMatchObject([{ secretId: 'current', verified: 6 }]);
  expect(overview.health).toMatchObject({ ok: true });
  const { deliveries } = await get<DeliveriesPage>('/deliveries?event=call:completed');
  expect(deliveries.map(({ callId }) => callId)).toEqual([...calls].reverse());
  const { events } = await get<CallTimeline>(`/calls/${String(calls[0])}`);
  expect(events.map(({ state }) => state)).toEqual(['handled', 'handled', 'not-seen']);

  const sender = startSender(hook, secret);
  await sender.post(callBody('broken'));
  const { letters } = await get<DeadLettersPage>('/dead-letters');
  expect(letters).toMatchObject([{ callId: 'broken', attempt: 1 }]);
});

/** Two processes, each with receiver and console, and one store. */
async function sumsUp(engine: string, url: string): Promise<void> {
  const secret = generateSecret();
  const [one, other] = [await startApp(secret, engine, url), await startApp(secret, engine, url)];
  for (const call of ['c1', 'c2', 'c3']) await startSender(one.hook, secret).post(callBody(call));
  await startSender(other.hook, secret).post(callBody('c4'));
  await startSender(other.hook, secret).post(callBody('c1'));
  for (const { get } of [one, other]) {
    await waitFor(async () => (await get<Overview>('/overview')).hour.summary.deliveries === 5);
    const overview = await get<Overview>('/overview');
    expect(overview).toMatchObject({
      scope: 'shared',
      day: { summary: { deliveries: 5, outcomes: { handled: 4, duplicate: 1 } } },
    });
    const byProcess = overview.processes.map(({ pid, summary }) => [pid, summary.deliveries]);
    expect(new Map(byProcess as [number, number][])).toEqual(
      new Map([
        [one.pid, 3],
        [other.pid, 2],
      ]),
    );
    expect(overview).not.toHaveProperty('sharedError');
  }
}

describeWithProgram('redis-server', 'processes that share Redis', () => {
  it('show their sum', async () => {
    const server = await redisServer();
    closing.push(() => server.stop());
    await server.start();
    await sumsUp('redis', `redis://127.0.0.1:${String(server.port)}`);
  });
});

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'processes that share Postgres',
  () => {
    it('show their sum', async () => {
      const server = await startPostgres();
      closing.push(() => server.remove());
      await sumsUp('postgres', server.url);
    });
  },
);

it('processes that share SQLite show their sum', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-console-'));
  closing.push(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  await sumsUp('sqlite', join(folder, 'calls.db'));
});
