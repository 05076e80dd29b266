import { afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { ask } from '../../core/src/store/at-once.ts';
import { EventModel } from '../src/model/event-model.ts';
import { WatchedStore } from '../src/model/watched-store.ts';
import type { Time } from '../src/model/world.ts';
import { leadLives, turnTime, warmUp } from './model-support.ts';

const runs = Number(process.env.PROOF_MODEL_RUNS ?? 100);

beforeAll(warmUp);
beforeEach(turnTime);
afterEach(() => void jest.useRealTimers());

test('the memory store is asked without a promise here too, as the receiver does', () => {
  const store = new WatchedStore(memoryStore(), new EventModel(() => undefined), Date.now);
  const claim = { webhookId: 'w', replayUntil: Date.now() + 1_000, leaseMs: 1_000, token: 't' };
  expect(ask(store, 'admit', { ...claim, key: 'k' })).toEqual({ status: 'admitted', attempt: 1 });
});

/** Turns the clock, and lets a store that answers in later turns of the event loop do so. */
const timeWithin = (turns: number): Time => ({
  async advance(ms) {
    await jest.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  },
});

test('with the memory store, the receiver does what the model allows', async () => {
  await leadLives('the memory store', runs, () => ({
    store: memoryStore({ now: Date.now }),
    time: timeWithin(0),
  }));
}, 120_000);

test('with the SQLite store, the receiver does what the model allows', async () => {
  await leadLives('the SQLite store', runs, () => ({
    store: sqliteStore(new Database(':memory:'), { now: Date.now }),
    time: timeWithin(6),
  }));
}, 120_000);
