import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createClient } from '@call-webhooks/client';
import { memoryStore, type Store } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { reconcile } from '@call-webhooks/recovery';
import { sqliteStore } from '@call-webhooks/sqlite';
import { collectingLogger, serveLocally } from '@call-webhooks/contract-tests';
import express from 'express';
import Database from 'libsql';
import { STARTED_AT, testResources } from '../../src/test-resources.ts';

const own = testResources();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** With the simulator's clock. Servers have clocks of their own. */
const ENGINES: [name: string, open: (now: () => number) => Promise<Store>][] = [
  ['memory', (now) => Promise.resolve(memoryStore({ now }))],
  [
    'SQLite',
    async (now) => {
      const db = own.add(new Database(join(await own.folder(), 'calls.db')));
      return sqliteStore(db, { now });
    },
  ],
];

test.each(ENGINES)(
  'a rule was paused for a day: forty missed calls run once, ten older ones do not run again (%s)',
  async (_engine, open) => {
    const simulator = await own.simulator({ patience: 10_000, timestamps: 'clock', pageSize: 10 });
    const now = () => simulator.clock.now();
    const store = await open(now);
    const runs: string[] = [];
    const outcomes: string[] = [];
    const hook = callWebhooks({
      secret: () => simulator.secrets.all(),
      on: { 'call:completed': ({ callId }) => void runs.push(String(callId)) },
      onOutcome: ({ outcome }) => void outcomes.push(outcome),
      ...{ store, now, logger: collectingLogger() },
    });
    own.add(hook.receiver);
    const { origin, close } = await serveLocally(express().all('/hook', hook));
    own.add({ close });
    const rule = simulator.rules.create({
      ...{ trigger: 'call:completed', scope: 'workspace' },
      actions: [{ url: `${origin}/hook` }],
    });
    /** Calls of twenty seconds, and then so many minutes. */
    const place = async (count: number, minutes: number) => {
      const ids: string[] = [];
      for (let made = 0; made < count; made++) {
        ids.push(simulator.calls.place({ durationSeconds: 20, recorded: false })._id);
        await simulator.clock.advance(minutes * MINUTE);
      }
      return ids;
    };
    const older = await place(10, 1);
    expect(runs).toEqual(older);
    const pausedAt = now();
    simulator.rules.pause(rule._id);
    await simulator.clock.advance(MINUTE);
    const missed = await place(40, 35); // about a day
    await simulator.clock.advance(pausedAt + 24 * HOUR - now());
    expect(runs).toHaveLength(10);

    // All calls that the service has: the older ten would look missed, so nothing is run.
    const client = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
    const { receiver } = hook;
    const all = reconcile({ client, receiver, now, since: new Date(STARTED_AT) });
    await expect(all).rejects.toThrow(/begins 24\.2 hours .* for 24 hours .* only/);
    expect(runs).toHaveLength(10);

    // From when the rule was paused, which the store remembers.
    const result = await reconcile({ client, receiver, now, since: new Date(pausedAt) });
    expect(result).toMatchObject({ seen: 40, missed: 40, handled: 40, known: 0, failed: 0 });
    expect(runs.slice(10).sort()).toEqual([...missed].sort());
    expect(await reconcile({ client, receiver, now, since: new Date(pausedAt) })).toMatchObject({
      ...{ missed: 0, handled: 0, known: 40 },
    });

    // What the rule would have sent comes late.
    simulator.rules.resume(rule._id);
    outcomes.length = 0;
    for (const { _id } of simulator.deliveries.list({ state: 'dropped' }))
      simulator.deliveries.resend(_id);
    await simulator.clock.runUntilIdle();
    expect(outcomes).toEqual(Array(40).fill('duplicate'));
    expect(runs.sort()).toEqual([...older, ...missed].sort());

    // The refusal was needed: nobody knows the older ones any more.
    const claim = { token: 't', webhookId: 'w', replayUntil: now(), leaseMs: 1_000 };
    expect(await store.admit({ ...claim, key: `${older[0]!}:call:completed` })).toMatchObject({
      status: 'admitted',
    });
  },
  60_000,
);
