import { afterAll, beforeAll, beforeEach, afterEach, expect, jest, test } from '@jest/globals';
import { createReceiver, generateSecret, memoryStore, sign, type Store } from '@call-webhooks/core';
import fc from 'fast-check';
import { lives } from '../src/model/commands.ts';
import { World } from '../src/model/world.ts';

const seed = Number(process.env.PROOF_SEED ?? 1);
const runs = Number(process.env.PROOF_MODEL_RUNS ?? 100);
const START = Date.UTC(2026, 0, 1);

const stores: Record<string, () => Store> = {
  'the memory store': () => memoryStore({ now: Date.now }),
};

beforeAll(async () => {
  console.info(`model: seed ${String(seed)}, ${String(runs)} lives (PROOF_SEED, PROOF_MODEL_RUNS)`);
  // Schemas are loaded when first needed, which turned time would not wait for.
  const secret = generateSecret();
  const body = Buffer.from('{"eventName":"call:completed","callId":"warm-up"}');
  const receiver = createReceiver({ secret, on: { 'call:completed': () => undefined } });
  await receiver.receive({ headers: await sign({ secret, body }), body });
});
beforeEach(() => void jest.useFakeTimers({ now: START }));
afterEach(() => void jest.useRealTimers());

const counts = new Map<string, number>();
afterAll(() => {
  console.info(`model: answers ${JSON.stringify(Object.fromEntries(counts))}`);
});

test.each(Object.entries(stores))(
  'with %s, the receiver does what the model allows',
  async (_name, makeStore) => {
    await fc.assert(
      fc.asyncProperty(lives(40), async (commands) => {
        jest.clearAllTimers();
        const time = { advance: (ms: number) => jest.advanceTimersByTimeAsync(ms) };
        const world = new World(makeStore(), time);
        await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
        for (const [outcome, count] of world.ledger.counts)
          counts.set(outcome, (counts.get(outcome) ?? 0) + count);
      }),
      { seed, numRuns: runs },
    );
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
