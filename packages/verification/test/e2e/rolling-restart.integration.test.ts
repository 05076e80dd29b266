import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { callBody, startSender } from '@call-webhooks/contract-tests';
import { startBalancer } from '../../src/history/balancer.ts';
import type { MachineInput } from './express-machine.ts';
import { testResources } from './test-resources.ts';

const own = testResources();
const EVERY_MS = 15;
/** In place of the service's five minutes. */
const RETRY_MS = 300;
const MACHINE = fileURLToPath(new URL('express-machine.ts', import.meta.url));

/** Starts a machine in a process of its own. */
async function startMachine(input: MachineInput) {
  const child = fork(MACHINE, [JSON.stringify(input)], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  own.add({
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  });
  const ready = once(child, 'message') as Promise<[{ port: number }]>;
  const [{ port }] = await Promise.race([
    ready,
    ended.then(([code]) => {
      throw new Error(`The machine ended with ${String(code)}`);
    }),
  ]);
  return {
    port,
    async terminate() {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

test('a rolling restart of two machines behind one port loses nothing and refuses nothing twice', async () => {
  const folder = await own.folder();
  const secret = generateSecret();
  const effects = join(folder, 'effects');
  writeFileSync(effects, '');
  const database = join(folder, 'calls.db');
  const start = (port: number) => startMachine({ port, secret, database, effects, slowness: 40 });
  const machines = [await start(0), await start(0)];
  const balancer = own.add(await startBalancer(machines.map(({ port }) => port)));
  const sender = startSender(balancer.url, secret);

  // A slow machine takes longer to close. The service retries after minutes, and so never meets the same closing twice.
  let closing: Promise<unknown> = Promise.resolve();

  /** Delivers until acknowledged, and returns all outcomes. */
  async function deliver(callId: string): Promise<string[]> {
    const outcomes: string[] = [];
    while (outcomes.length < 10) {
      const response = await sender.post(callBody(callId)).catch(() => undefined);
      outcomes.push(response?.outcome ?? 'no response');
      if (response && response.status < 300) break;
      await closing;
      await delay(RETRY_MS);
    }
    return outcomes;
  }

  const stop = new AbortController();
  const deliveries: Promise<string[]>[] = [];
  const steady = (async () => {
    while (!stop.signal.aborted) {
      deliveries.push(deliver(`call-${String(deliveries.length)}`));
      await delay(EVERY_MS);
    }
  })();
  try {
    for (const machine of machines) {
      await delay(300);
      const ended = machine.terminate();
      closing = ended.catch(() => undefined);
      expect(await ended).toBe(0);
      await delay(100);
      await start(machine.port);
    }
    await delay(300);
  } finally {
    stop.abort();
    await steady;
  }
  const delivered = await Promise.all(deliveries);

  expect(delivered.length).toBeGreaterThan(50);
  // At most one retry, after a 503 of the closing machine or a connection that nobody accepted.
  expect(delivered.filter(({ length }) => length > 2)).toEqual([]);
  const refusals = delivered.filter(({ length }) => length > 1).map(([first]) => first);
  expect(['no response', 'shutting-down']).toEqual(expect.arrayContaining(refusals));
  expect(delivered.map((all) => all.at(-1))).toEqual(delivered.map(() => 'handled'));
  const done = readFileSync(effects, 'utf8').trim().split('\n').sort();
  expect(done).toEqual(delivered.map((_, number) => `call-${String(number)}`).sort());
});
