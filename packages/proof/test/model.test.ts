import { beforeAll, beforeEach, afterEach, expect, jest, test } from '@jest/globals';
import { createReceiver, generateSecret, memoryStore, sign, type Store } from '@call-webhooks/core';
import { sqliteStore } from '@call-webhooks/sqlite';
import fc from 'fast-check';
import Database from 'libsql';
import { lives } from '../src/model/commands.ts';
import { World } from '../src/model/world.ts';

const seed = Number(process.env.PROOF_SEED ?? 1);
const runs = Number(process.env.PROOF_MODEL_RUNS ?? 100);
const START = Date.UTC(2026, 0, 1);

interface StoreKind {
  name: string;
  make: () => Store;
  /** Turns of the event loop that its calls for one delivery take. */
  turns: number;
}

const stores: StoreKind[] = [
  { name: 'the memory store', make: () => memoryStore({ now: Date.now }), turns: 0 },
  {
    name: 'the SQLite store',
    make: () => sqliteStore(new Database(':memory:'), { now: Date.now }),
    turns: 6,
  },
];

/** Turns the clock, and lets a store that answers in later turns of the event loop do so. */
const timeFor = ({ turns }: StoreKind) => ({
  async advance(ms: number) {
    await jest.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  },
});

beforeAll(async () => {
  console.info(`model: seed ${String(seed)}, ${String(runs)} lives (PROOF_SEED, PROOF_MODEL_RUNS)`);
  // Schemas are loaded when first needed, which turned time would not wait for.
  const secret = generateSecret();
  const body = Buffer.from('{"eventName":"call:completed","callId":"warm-up"}');
  const receiver = createReceiver({ secret, on: { 'call:completed': () => undefined } });
  await receiver.receive({ headers: await sign({ secret, body }), body });
});
beforeEach(() => void jest.useFakeTimers({ now: START, doNotFake: ['setImmediate'] }));
afterEach(() => void jest.useRealTimers());

test.each(stores)(
  'with $name, the receiver does what the model allows',
  async (store) => {
    const counts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(lives(40), async (commands) => {
        jest.clearAllTimers();
        const world = new World(store.make(), timeFor(store));
        await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
        for (const [outcome, count] of world.ledger.counts)
          counts.set(outcome, (counts.get(outcome) ?? 0) + count);
      }),
      { seed, numRuns: runs },
    );
    console.info(`${store.name}: ${JSON.stringify(Object.fromEntries(counts))}`);
    // A model that sees nothing proves nothing.
    for (const outcome of [
      'handled',
      'duplicate',
      'dead-lettered',
      'replayed',
      'handler-failed',
      'in-progress',
      'deadline',
      'store-unavailable',
      'shutting-down',
      'timestamp-out-of-tolerance',
    ])
      expect(counts.get(outcome)).toBeGreaterThan(0);
  },
  120_000,
);
