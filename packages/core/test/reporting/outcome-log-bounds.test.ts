import { describe, expect, it, jest } from '@jest/globals';
import { createJobProcessor } from '../../src/stores.ts';
import { useLateClock } from '../late-clock.ts';
import { loggedStore } from '../logged-store.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';
import { createTestReceiver, Lines, NOW } from '../support.ts';

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

  describe('20,000 counters', () => {
    const EVENTS = 100;
    /** A worker whose runs of a minute have 100 counters. */
    function worker() {
      const outage = { isOver: false };
      const { store, counted } = loggedStore(async (batch, inner) => {
        if (!outage.isOver) throw new Error('down');
        await inner.append(batch);
      });
      const run = createJobProcessor({
        ...{ log: store.log, logger: new Lines(), onUnhandled: () => undefined },
      });
      const jobs = Array.from({ length: EVENTS }, (_, n) => ({
        ...{ webhookId: 'w', timestamp: NOW / 1_000, receivedAt: NOW },
        body: btoa(JSON.stringify({ eventName: `e-${String(n)}` })),
      }));
      const work = async (minutes: number) => {
        for (let minute = 0; minute < minutes; minute++) {
          await Promise.all(jobs.map((job) => run(job)));
          await pass(MINUTE_MS);
        }
      };
      const sum = async () =>
        Object.values(await counted()).reduce((all, count) => all + count, 0) / EVENTS;
      return { outage, work, sum, close: () => run.close() };
    }

    it('are those that wait, and none that was written: hours of work lose nothing', async () => {
      const { outage, work, sum, close } = worker();
      outage.isOver = true;
      await work(205);
      await close();
      expect(await sum()).toBe(205);
    });

    it('are those of the newest minutes of an outage, after which nothing is lost', async () => {
      const { outage, work, sum, close } = worker();
      await work(230);
      outage.isOver = true;
      await pass(10 * MINUTE_MS);
      const kept = await sum();
      expect(kept).toBeGreaterThanOrEqual(199);
      expect(kept).toBeLessThanOrEqual(203); // besides the batch that failed
      await work(20);
      await close();
      expect(await sum()).toBe(kept + 20);
    });
  });

  it('are the times of 1,000 last arrivals in a batch', async () => {
    const { store, batches } = loggedStore();
    const { send } = createTenantsReceiver({
      ...{ store, onUnhandled: () => undefined },
      secret: ({ tenant }) => secretOf(tenant),
    });
    for (let tenant = 0; tenant < 100; tenant++)
      for (let event = 0; event < 11; event++)
        await send(`t${String(tenant)}`, { eventName: `e${String(event)}` });
    await pass();
    const sizes = batches.map(({ marks }) => Object.keys(marks).length);
    expect(sizes).toEqual([1_000]);
  });

  it('are batches, of which the last page of a memoryStore names no page after it', async () => {
    const { store, refuse } = setup();
    for (let batch = 0; batch < 3; batch++) {
      await refuse();
      await pass();
    }
    const read = store.log!.read;
    const first = await read({ batches: 2 });
    expect(first.rows).toHaveLength(2);
    const last = await read({ batches: 2, before: first.before });
    expect([last.rows.length, last.before]).toEqual([1, undefined]);
    expect((await read({ batches: 3 })).before).toBeUndefined();
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
