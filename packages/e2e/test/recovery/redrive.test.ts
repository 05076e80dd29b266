import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { memoryDeadLetters, memoryStore, type DeadLetters, type Store } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { redrive } from '@call-webhooks/recovery';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import { collectingLogger, serveLocally } from '@call-webhooks/contract-tests';
import express from 'express';
import Database from 'libsql';
import { testResources } from '../../src/test-resources.ts';

const own = testResources();

const ENGINES: [name: string, open: () => Promise<{ store: Store; deadLetters: DeadLetters }>][] = [
  ['memory', async () => ({ store: memoryStore(), deadLetters: memoryDeadLetters() })],
  [
    'SQLite',
    async () => {
      const db = own.add(new Database(join(await own.folder(), 'calls.db')));
      return { store: sqliteStore(db), deadLetters: sqliteDeadLetters(db) };
    },
  ],
];

test.each(ENGINES)(
  'after a fix, five dead letters are redriven: each is handled once (%s)',
  async (_engine, open) => {
    const simulator = await own.simulator({ patience: 10_000 });
    const { store, deadLetters } = await open();
    const logger = collectingLogger();
    const handled: string[] = [];
    const outcomes: string[] = [];
    let broken = true;
    const hook = callWebhooks({
      secret: () => simulator.secrets.all(),
      on: {
        'call:completed': (_event, { key = '' }) => {
          if (broken) throw new Error('the new CRM field is missing');
          handled.push(key);
        },
      },
      ...{ store, deadLetter: deadLetters, logger },
      onOutcome: ({ outcome }) => void outcomes.push(outcome),
    });
    const { origin, close } = await serveLocally(express().all('/hook', hook));
    own.add({ close });
    own.add(hook.receiver);
    simulator.rules.forwardTo(`${origin}/hook`);

    const calls = Array.from({ length: 5 }, () => simulator.calls.place());
    await simulator.clock.runUntilIdle();
    // The service was told that all is well, and the rule goes on.
    expect(simulator.deliveries.counts()).toEqual({ acknowledged: 15 });
    expect(simulator.rules.list().map(({ state }) => state)).not.toContain('paused');
    const { letters } = await deadLetters.list();
    expect(letters.map(({ callId }) => callId).sort()).toEqual(calls.map(({ _id }) => _id).sort());
    for (const letter of letters)
      expect(letter).toMatchObject({
        ...{ eventName: 'call:completed', attempt: 3, source: 'webhook' },
        error: 'Error: the new CRM field is missing',
      });

    /** The service sends the events once more. */
    const resend = async () => {
      outcomes.length = 0;
      for (const { _id, eventName, copyOf } of simulator.deliveries.list())
        if (eventName === 'call:completed' && copyOf === undefined)
          simulator.deliveries.resend(_id);
      await simulator.clock.runUntilIdle();
      return [...outcomes];
    };
    expect(await resend()).toEqual(Array(5).fill('in-dead-letters'));

    broken = false;
    const { receiver } = hook;
    const result = await redrive({ receiver, deadLetters });
    expect(result).toEqual({
      ...{ handled: 5, queued: 0, failed: 0 },
      ...{ alreadyHandled: 0, unknown: 0, skipped: 0 },
    });
    expect(handled.sort()).toEqual(calls.map(({ _id }) => `${_id}:call:completed`).sort());
    expect(await deadLetters.count()).toBe(0);
    expect(await redrive({ receiver, deadLetters })).toMatchObject({ handled: 0 });
    expect(await resend()).toEqual(Array(5).fill('duplicate'));
    expect(handled).toHaveLength(5);
  },
  120_000,
);
