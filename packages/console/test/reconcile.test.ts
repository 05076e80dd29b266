import { afterEach, describe, expect, it } from '@jest/globals';
import { createClient } from '@call-webhooks/client';
import { memoryStore } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import type { ReconcileState } from '../src/api-types.ts';
import { open } from './support.ts';

const MINUTE = 60_000;
const STARTED_AT = Date.UTC(2026, 0, 31, 12);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A service with two calls that no webhook came for, and a console that can ask it. */
async function withMissedCalls({ apiToken }: { apiToken?: string } = {}) {
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: STARTED_AT, timestamps: 'clock' },
  });
  closing.push(() => simulator.close());
  const now = () => simulator.clock.now();
  const client = createClient({ baseUrl: simulator.url, apiToken: apiToken ?? simulator.apiToken });
  const store = memoryStore({ now });
  const handled: string[] = [];
  const on = {
    'call:completed': ({ callId }: { callId?: unknown }) => void handled.push(String(callId)),
  };
  await simulator.clock.advance('10m');
  const opened = open({ reconcile: { client }, now, receiving: { on, store, now } });
  const calls = [];
  for (let made = 0; made < 2; made += 1) {
    calls.push(simulator.calls.place({ durationSeconds: 20 })._id);
    await simulator.clock.advance('1m');
  }
  await simulator.clock.advance('30m');
  const run = (body: object) =>
    opened.post<ReconcileState>('/api/reconcile', {
      ...{ since: STARTED_AT + 10 * MINUTE, waitMs: 20_000 },
      ...body,
    });
  return { ...opened, simulator, now, client, calls, handled, run };
}

describe('api/reconcile', () => {
  it('first only says what should have come, then runs it, and knows it the next time', async () => {
    const { run, calls, handled, logger, get } = await withMissedCalls();
    const [dry] = (await run({ dryRun: true })).runs;
    expect(dry).toMatchObject({
      ...{ by: 'Ada', dryRun: true, state: 'done', since: STARTED_AT + 10 * MINUTE },
      counts: { seen: 2, expected: 2, handled: 0, missed: 0, ignored: 0 },
    });
    expect(dry?.events.map(({ callId }) => callId).sort()).toEqual([...calls].sort());
    expect(handled).toEqual([]);

    const [real] = (await run({ dryRun: false })).runs;
    expect(real).toMatchObject({ state: 'done', counts: { missed: 2, handled: 2, known: 0 } });
    expect(real?.events).toContainEqual({
      ...{ callId: calls[0], eventName: 'call:completed', outcome: 'handled', missed: true },
    });
    expect(handled.sort()).toEqual([...calls].sort());

    const state = await run({ dryRun: false });
    expect(state.running).toBeNull();
    expect(state.runs).toHaveLength(3);
    expect(state.runs[0]).toMatchObject({ counts: { missed: 0, known: 2 }, events: [] });
    expect(await get('/api/reconcile')).toEqual(state);
    expect(logger.entries[0]?.fields).toMatchObject({
      action: 'reconcile',
      by: 'Ada',
      dryRun: true,
    });
  });

  it('says why a run failed', async () => {
    const { run, simulator } = await withMissedCalls();
    await simulator.close();
    const [gone] = (await run({ dryRun: false })).runs;
    expect(gone).toMatchObject({ state: 'failed', error: expect.any(String) });
  });

  it.each([true, false])(
    'begins with what the store knows, and says so (dryRun: %s)',
    async (dryRun) => {
      const { run } = await withMissedCalls();
      const [shortened] = (await run({ dryRun, since: STARTED_AT - 60 * MINUTE })).runs;
      expect(shortened).toMatchObject({
        ...{ state: 'done', counts: { seen: 2 } },
        ...{ since: STARTED_AT, askedSince: STARTED_AT - 60 * MINUTE }, // the store's start
      });
      const [whole] = (await run({ dryRun })).runs;
      expect(whole).toMatchObject({ state: 'done', since: STARTED_AT + 10 * MINUTE });
      expect(whole).not.toHaveProperty('askedSince');
    },
  );

  it('has nothing to look at while the store is younger than what is left alone', async () => {
    const { simulator, now, client } = await withMissedCalls();
    const receiving = { store: memoryStore({ now }), now };
    const { send, get, logger } = open({ reconcile: { client }, now, receiving });
    await simulator.clock.advance('4m');
    const response = await send('/api/reconcile', { dryRun: true, since: STARTED_AT });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(
      'the window ends 10 min ago, and the store knows nothing from before 4 min ago. Try again later.',
    );
    expect(logger.entries).toEqual([]);
    expect(await get('/api/reconcile')).toEqual({ running: null, runs: [] });
    await simulator.clock.advance('7m');
    const later = await send('/api/reconcile', { dryRun: true, since: STARTED_AT, waitMs: 20_000 });
    expect(await later.json()).toMatchObject({ runs: [{ state: 'done' }] });
  });

  it('names the fix for a token that the service refuses', async () => {
    const { run } = await withMissedCalls({ apiToken: 'an-old-token' });
    const [refused] = (await run({ dryRun: true })).runs;
    expect(refused).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/status 401.*\. Check the apiToken of the client/),
    });
    expect(refused?.error).not.toContain('an-old-token');
  });

  it.each([
    { since: 0 },
    { dryRun: 'yes', since: 0 },
    { dryRun: true },
    { dryRun: true, since: -1 },
    { dryRun: true, since: 0, until: 9e15 },
    { dryRun: true, since: 0, waitMs: -1 },
  ])('refuses %j', async (body) => {
    const { send } = await withMissedCalls();
    const response = await send('/api/reconcile', body);
    expect(response.status).toBe(400);
  });
});
