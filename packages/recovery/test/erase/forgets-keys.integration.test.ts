import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  postgresBinaries,
  redisServer,
  startPostgres,
  waitFor,
} from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import type { QueueJobs } from '@call-webhooks/core/stores';
import { erase, type EraseOptions } from '../../src/index.ts';
import { PLACES, type PlaceName } from './places.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const STATES = ['waiting', 'dead', 'finished'] as const;
const TENANT = 'acme';
const WAYS: [string, (callIds: string[]) => Partial<EraseOptions>, readonly string[]][] = [
  // What is finished has no body in which a person could be found.
  ['what they contain', () => ({ contains: ['+49 171 5550123'] }), ['waiting', 'dead']],
  ['their calls', (callIds) => ({ callIds, tenant: TENANT }), STATES],
  ['their tenant', () => ({ tenant: TENANT }), STATES],
  ['their age', () => ({ before: new Date(Date.now() + 60_000) }), STATES],
];

async function hasDeadJob(jobs: QueueJobs): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await jobs.list({ cursor });
    if (page.jobs.some(({ state }) => state === 'dead')) return true;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return false;
}

/** After an erasure with `forgetKeys`, an event that is delivered again is run again: it is never lost in silence. */
function runsAgain(name: PlaceName, start: () => Promise<string>): void {
  it.each(WAYS)(
    'found by %s',
    async (_way, optionsOf, states) => {
      const place = await PLACES[name](await start());
      closing.push(() => place.close());
      const { queue, jobs, startWorker } = place.queued!;
      const logger = collectingLogger();
      const openReceiver = () => {
        const secret = () => generateSecret();
        const receiver = createReceiver({
          ...{ secret, tenant: () => TENANT, store: place.store, queue, logger },
        });
        closing.push(() => receiver.close());
        return receiver;
      };
      let receiver = openReceiver();
      const eventOf = (state: string) => ({
        ...{ eventName: 'call:completed', callId: `c-${state}`, phone: '+491715550123' },
      });
      const deliver = (state: string) => receiver.deliver(eventOf(state), { tenant: TENANT });
      const runs: string[] = [];
      const run = (fails: boolean) =>
        startWorker({
          logger,
          on: {
            'call:completed': ({ callId }) => {
              if (fails && callId === 'c-dead') throw new Error('the CRM is down');
              runs.push(String(callId));
            },
          },
        });

      const first = run(true);
      for (const state of states.filter((one) => one !== 'waiting')) await deliver(state);
      await waitFor(() => hasDeadJob(jobs));
      if (states.includes('finished')) await waitFor(() => runs.includes('c-finished'));
      await first.close();
      await deliver('waiting');
      await receiver.close(); // writes the rest of its log, which has the keys of what is finished

      await erase({
        ...optionsOf(states.map((state) => `c-${state}`)),
        ...{ store: place.store, deadLetters: place.deadLetters, jobs, logger },
        ...{ by: 'a test', loseWaiting: true, forgetKeys: true },
      });
      runs.length = 0;
      receiver = openReceiver();
      for (const state of states) await deliver(state);
      const second = run(false);
      closing.push(() => second.close());
      await waitFor(() => runs.length === states.length);
      expect(runs.sort()).toEqual(states.map((state) => `c-${state}`).sort());
    },
    120_000,
  );
}

describe('events whose jobs were erased from SQLite, with their keys, run again', () => {
  runsAgain('sqlite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'erasure-'));
    closing.push(() => rmSync(folder, { recursive: true }));
    return Promise.resolve(join(folder, 'calls.db'));
  });
});

describeWithProgram('redis-server', 'events whose jobs were erased from BullMQ run again', () => {
  runsAgain('redis', async () => {
    const server = await redisServer();
    await server.start();
    closing.push(() => server.stop());
    return `redis://127.0.0.1:${String(server.port)}`;
  });
});

const postgres = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };
describeWithProgram(postgres, 'events whose jobs were erased from pg-boss run again', () => {
  runsAgain('postgres', async () => {
    const server = await startPostgres();
    closing.push(() => server.remove());
    return server.url;
  });
});
