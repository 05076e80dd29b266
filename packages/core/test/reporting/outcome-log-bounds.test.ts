import { describe, expect, it, jest } from '@jest/globals';
import { createJobProcessor } from '../../src/stores.ts';
import { useLateClock } from '../late-clock.ts';
import { loggedStore } from '../logged-store.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';
import { createTestReceiver, NOW } from '../support.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const FIRST_MINUTE = Math.floor(NOW / MINUTE_MS);

describe('what a receiver keeps for its outcome log', () => {
  useLateClock();
  const pass = (ms = SECOND_MS) => jest.advanceTimersByTimeAsync(ms);

  function setup() {
    const clock = { now: NOW };
    const log = { isDown: false };
    const logged = loggedStore(async (batch, inner) => {
      if (log.isDown) throw new Error('down');
      await inner.append(batch);
    });
    const { store } = logged;
    const made = createTestReceiver({ store, now: () => clock.now });
    const refuse = () => made.receiver.receive({ headers: {}, body: new Uint8Array() });
    return { ...logged, ...made, clock, log, refuse };
  }

  it('are 3,000 minutes while the log is down, besides the batch that failed', async () => {
    const { refuse, batches, clock, log } = setup();
    log.isDown = true;
    await refuse();
    await pass();
    for (let minute = 1; minute <= 3_040; minute++) {
      clock.now = NOW + minute * MINUTE_MS;
      await refuse();
    }
    log.isDown = false;
    batches.length = 0;
    await pass(MINUTE_MS);
    const minutes = batches.flatMap(({ counts }) => Object.keys(counts.minutes ?? {}).map(Number));
    expect(minutes).toEqual([
      FIRST_MINUTE,
      ...Array.from({ length: 3_000 }, (_, at) => FIRST_MINUTE + 41 + at),
    ]);
  });

  it('are counters that wait, and none that was written: hours of many counters lose nothing', async () => {
    const { store, counted } = loggedStore();
    const run = createJobProcessor({ log: store.log, onUnhandled: () => undefined });
    const [EVENTS, MINUTES] = [100, 205];
    const jobs = Array.from({ length: EVENTS }, (_, n) => ({
      ...{ webhookId: 'w', timestamp: NOW / 1_000, receivedAt: NOW },
      body: btoa(JSON.stringify({ eventName: `e-${String(n)}` })),
    }));
    for (let minute = 0; minute < MINUTES; minute++) {
      await Promise.all(jobs.map((job) => run(job)));
      await pass(MINUTE_MS);
    }
    await run.close();
    const sum = Object.values(await counted()).reduce((all, count) => all + count, 0);
    expect(sum).toBe(EVENTS * MINUTES);
  });

  it('are rows that were dropped, which are counted once', async () => {
    const { refuse, batches } = setup();
    for (const requests of [60, 1, 70]) {
      for (let n = 0; n < requests; n++) await refuse();
      await pass();
    }
    expect(batches.map(({ counts }) => counts.minutes![FIRST_MINUTE]!['rowsDropped'])).toEqual([
      10,
      undefined,
      20,
    ]);
  });

  it('are 1,000 counters of a minute: tenants may have any number of secrets', async () => {
    const { store, batches } = loggedStore();
    const { send } = createTenantsReceiver({
      store,
      secret: ({ tenant }) => ({ id: tenant, secret: secretOf(tenant) }),
      onUnhandled: () => undefined,
    });
    for (let n = 0; n < 1_010; n++) await send(`t${String(n)}`, { eventName: 'other' });
    await pass();
    const [counts] = Object.values(batches[0]!.counts.minutes!);
    const secrets = Object.keys(counts!).filter((name) => name.startsWith('secret/'));
    expect(secrets.length).toBeGreaterThan(900);
    expect(secrets.length).toBeLessThan(1_000);
    expect(counts!['outcome/webhook/handled/other']).toBe(1_010);
  });
});
