import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { callWebhooks } from '@call-webhooks/express';
import { createSqliteWorker, sqliteQueue, sqliteStore } from '@call-webhooks/sqlite';
import { collectingLogger, serveLocally, waitFor } from '@call-webhooks/contract-tests';
import express from 'express';
import Database from 'libsql';
import { testResources } from './test-resources.ts';

const own = testResources();
const CALLS = 10;
const HOURS = 36;

test('with a queue, a CRM outage of hours pauses no rule and loses nothing', async () => {
  const simulator = await own.simulator({ patience: 10_000 });
  const db = own.add(new Database(join(await own.folder(), 'calls.db')));
  // Queue and service share the fake clock.
  const now = () => simulator.clock.now();
  const queue = sqliteQueue(db, { now });
  const logger = collectingLogger();
  const hook = callWebhooks({
    secret: () => simulator.secrets.all(),
    store: sqliteStore(db, { now }),
    queue,
    logger,
  });
  const { origin, close } = await serveLocally(express().all('/hook', hook));
  own.add({ close });
  own.add(hook.receiver);
  simulator.rules.forwardTo(`${origin}/hook`);

  let down = true;
  let failures = 0;
  const done = new Map<string, number>();
  const handle = (_event: unknown, { key = '' }: { key: string | undefined }) => {
    if (!down) done.set(key, (done.get(key) ?? 0) + 1);
    else {
      failures++;
      throw new Error('the CRM is down');
    }
  };
  const worker = own.add(
    createSqliteWorker(queue, {
      on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
      logger,
      pollEvery: 5,
    }),
  );
  /** Runs until no job is due. */
  const idle = () =>
    waitFor(async () => {
      const { waiting, running } = await worker.stats();
      return waiting + running === 0;
    });

  for (let hour = 0; hour < HOURS; hour++) {
    if (hour < CALLS) simulator.calls.place();
    await simulator.clock.advance('1h');
    await idle();
  }
  await simulator.clock.runUntilIdle();
  const sent = simulator.events.list();
  expect(sent).toHaveLength(3 * CALLS);
  expect(failures).toBeGreaterThan(3 * CALLS * (HOURS - CALLS) * 0.5);
  expect(done.size).toBe(0);
  // The service does not notice any of it.
  expect(simulator.events.counts()).toEqual({ acknowledged: 3 * CALLS });
  expect(sent.map(({ attempts }) => attempts.length)).toEqual(sent.map(() => 1));
  expect(simulator.outbox.list()).toEqual([]);
  expect(simulator.rules.list().map(({ state }) => state)).not.toContain('paused');

  down = false;
  for (let quarter = 0; quarter < 6; quarter++) {
    await simulator.clock.advance('15m');
    await idle();
  }
  expect(await queue.stats()).toMatchObject({ done: 3 * CALLS, delayed: 0, dead: 0 });
  expect(new Set(done.values())).toEqual(new Set([1]));
  expect(done.size).toBe(3 * CALLS);
});
