import { describe, expect, it } from '@jest/globals';
import { deferred, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { type Outcome, sign } from '@call-webhooks/core';
import { createJobProcessor } from '@call-webhooks/core/stores';
import fc from 'fast-check';
import type { Overview, Session } from '../src/api-types.ts';
import { Counts } from '../src/stats/counts.ts';
import { Histogram } from '../src/stats/histogram.ts';
import { CountSeries, DAY, HOUR } from '../src/stats/series.ts';
import { callBody, open } from './support.ts';

describe('overview', () => {
  describe('api/overview', () => {
    it('counts deliveries by outcome, source and result', async () => {
      const { deliver, receiver, get } = open();
      await deliver(callBody('c1'));
      await deliver(callBody('c1'));
      await deliver(callBody('c2'));
      await deliver('{"eventName":"call:unheard"}');
      await receiver.receive({ method: 'POST', headers: {}, body: new Uint8Array() });

      const { hour, day, perMinute, scope, processes } = await get<Overview>('/api/overview');
      for (const { summary } of [hour, day])
        expect(summary).toMatchObject({
          ...{ deliveries: 5, acknowledged: 4, failed: 0, refused: 1, late: 0 },
          outcomes: { handled: 2, duplicate: 1, ignored: 1, 'missing-header': 1 },
          sources: { webhook: 5 },
          handlerMs: { count: 2 },
          durationMs: { count: 5 },
          queueLagMs: null,
        });
      expect(hour.points).toHaveLength(60);
      expect(day.points).toHaveLength(144);
      expect(hour.points.at(-1)).toMatchObject({ at: 1_800_000_000_000, deliveries: 5 });
      expect({ perMinute, scope }).toEqual({ perMinute: 5, scope: 'process' });
      expect(processes).toMatchObject([
        { pid: process.pid, perMinute: 5, summary: { deliveries: 5 } },
      ]);
    });

    it('keeps an hour of minutes and a day of ten minutes', async () => {
      const { clock, deliver, get } = open();
      await deliver(callBody('c1'));
      clock.now += 30_000;
      expect((await get<Overview>('/api/overview')).perMinute).toBe(1);
      clock.now += 45_000;
      // A quarter of the next minute is over.
      expect((await get<Overview>('/api/overview')).perMinute).toBe(0.8);
      clock.now += 59 * 60_000;
      const later = await get<Overview>('/api/overview');
      expect(later.hour.summary.deliveries).toBe(0);
      expect(later.day.summary.deliveries).toBe(1);
      clock.now += 24 * 3_600_000;
      expect((await get<Overview>('/api/overview')).day.summary.deliveries).toBe(0);
    });

    it('counts what runs now', async () => {
      const running = deferred();
      const begun = deferred();
      const on = {
        'call:completed': () => {
          begun.resolve();
          return running.promise;
        },
      };
      const { deliver, get } = open({ receiving: { on } });
      const delivery = deliver(callBody('c1'));
      await begun.promise;
      const during = await get<Overview>('/api/overview');
      expect(during.inFlight).toEqual({ deliveries: 1, handlers: 1 });
      running.resolve();
      await delivery;
      await waitFor(async () => (await get<Overview>('/api/overview')).inFlight.deliveries === 0);
      expect((await get<Overview>('/api/overview')).inFlight).toEqual({
        deliveries: 0,
        handlers: 0,
      });
    });

    it('counts the jobs of workers in the same process', async () => {
      const { get } = open();
      const process = createJobProcessor({ on: { 'call:completed': () => undefined } });
      await process(queuedCall('c1'));
      const { summary } = (await get<Overview>('/api/overview')).hour;
      expect(summary).toMatchObject({ deliveries: 1, sources: { queue: 1 }, lagMs: null });
      expect(summary.queueLagMs).toMatchObject({ count: 1 });
    });

    it('tells a late handler from a delivery', async () => {
      const running = deferred();
      const on = { 'call:completed': () => running.promise };
      const { deliver, get } = open({ receiving: { on, ackWithin: 1 } });
      expect(await deliver(callBody('c1'))).toBe('deadline');
      running.resolve();
      const summary = async () => (await get<Overview>('/api/overview')).hour.summary;
      await waitFor(async () => (await summary()).late === 1);
      expect(await summary()).toMatchObject({
        deliveries: 1,
        failed: 1,
        outcomes: { deadline: 1 },
      });
    });

    it('tells which secret verified what and when last, and no secret', async () => {
      const { clock, secret, deliver, ask, get } = open();
      await deliver(callBody('c1'));
      clock.now += 5_000;
      await deliver(callBody('c1', 'call:started'));
      const { secrets } = await get<Overview>('/api/overview');
      expect(secrets).toEqual([
        {
          ...{ secretId: 'blue', tenant: null, verified: 2 },
          ...{ lastAt: clock.now, lastEventName: 'call:started' },
        },
      ]);
      for (const path of ['', '/api/overview', '/api/deliveries', '/api/session'])
        expect(await (await ask(path)).text()).not.toContain(secret.slice(6));
    });

    it('shows events whose fields have other names, and where they are explained', async () => {
      const { deliver, get } = open();
      await deliver('{"eventName":"call:completed","callId":"c1","finished":"2026-01-02"}');
      const { health } = await get<Overview>('/api/overview');
      expect(health).toMatchObject({
        ok: true,
        unknownFields: [
          { eventName: 'call:completed', fields: ['eventName', 'callId', 'finished'] },
        ],
      });
      const { fieldNamesDocs } = await get<Session>('/api/session');
      expect(fieldNamesDocs).toMatch(/^https:.*field-names/);
    });

    it('shows the health, and asks for it at most every 5 seconds', async () => {
      let pings = 0;
      const { clock, get, receiver } = open();
      receiver.store.ping = () => {
        pings += 1;
        return Promise.reject(new Error('gone'));
      };
      const [first] = await Promise.all([get<Overview>('/api/overview'), get('/api/overview')]);
      expect(first.health).toMatchObject({ ok: false, store: { status: 'down' } });
      expect(pings).toBe(1);
      clock.now += 5_000;
      await get('/api/overview');
      expect(pings).toBe(2);
    });

    it('stops counting when it is closed', async () => {
      const { console, deliver, get } = open();
      await console.close();
      await deliver(callBody('c1'));
      expect((await get<Overview>('/api/overview')).hour.summary.deliveries).toBe(0);
    });
  });

  describe('api/session', () => {
    it('says who asks and what the console can do', async () => {
      const { get } = open({ authorize: () => ({ name: 'Bob\nroot', canWrite: false }) });
      const session = await get<Session>('/api/session');
      expect(session).toMatchObject({
        ...{ name: 'Bob?root', canWrite: false, readOnly: false },
        ...{ deadLetters: 'store', reconcile: false },
      });
      expect(session.outcomes['signature-mismatch']).toMatchObject({
        status: 401,
        docs: expect.stringContaining('#signature-mismatch'),
      });
    });

    it('advises dead letters only where there are none', async () => {
      const wordsOf = async (options: Parameters<typeof open>[0]) => {
        const { outcomes } = await open(options).get<Session>('/api/session');
        return [outcomes['handler-failed'], outcomes['invalid-payload']];
      };
      for (const { fix } of await wordsOf({ deadLetters: undefined }))
        expect(fix).toContain('Set deadLetter');
      for (const { fix, when } of await wordsOf({})) {
        expect(fix).not.toMatch(/deadLetter|^Then/);
        // Nothing retries a redrive or a reconcile.
        expect(when).not.toContain('retry');
      }
    });

    it('has no name for who was let in without one', async () => {
      const { get } = open({ authorize: () => Promise.resolve(true), deadLetters: undefined });
      expect(await get('/api/session')).toMatchObject({
        name: null,
        canWrite: true,
        deadLetters: null,
      });
    });
  });

  it('never shows what a forged request claims to be', async () => {
    const { receiver, get } = open();
    const body = new TextEncoder().encode(callBody('forged'));
    const headers = await sign({ secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZg==', body });
    await receiver.receive({ method: 'POST', headers, body });
    const page = await get<{ deliveries: unknown[] }>('/api/deliveries');
    expect(page.deliveries).toMatchObject([{ outcome: 'signature-mismatch', result: 'refused' }]);
    expect(JSON.stringify(page)).not.toContain('forged');
  });
});

describe('stats', () => {
  const outcome = (more: Partial<Outcome> = {}): Outcome => ({
    ...{ outcome: 'handled', source: 'webhook', status: 200, durationMs: 10, webhookId: 'w' },
    ...more,
  });
  const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

  describe('a histogram', () => {
    it('tells percentiles to a fifth, and the highest exactly', () => {
      const durations = fc.array(fc.integer({ min: 1, max: 60_000_000 }), { minLength: 1 });
      fc.assert(
        fc.property(durations, (all) => {
          const histogram = new Histogram();
          for (const ms of all) histogram.add(ms);
          const sorted = [...all].sort((one, other) => one - other);
          const exact = (share: number) => sorted[Math.ceil(all.length * share) - 1] as number;
          const found = histogram.percentiles();
          expect(found).toMatchObject({ count: all.length, max: sorted.at(-1) });
          for (const [name, share] of [
            ['p50', 0.5],
            ['p95', 0.95],
            ['p99', 0.99],
          ] as const) {
            expect(found?.[name]).toBeGreaterThanOrEqual(exact(share) - 0.01);
            expect(found?.[name]).toBeLessThanOrEqual(exact(share) * 1.2 + 0.01);
          }
        }),
      );
    });

    it('is empty without numbers', () => {
      const histogram = new Histogram();
      for (const ms of [undefined, NaN, Infinity]) histogram.add(ms);
      expect(histogram.percentiles()).toBeNull();
    });

    it('is the same once it was written and read', () => {
      fc.assert(
        fc.property(fc.array(fc.float({ min: 0, max: 1e9, noNaN: true })), (all) => {
          const histogram = new Histogram();
          for (const ms of all) histogram.add(ms);
          expect(Histogram.from(copyOf(histogram)).percentiles()).toEqual(histogram.percentiles());
        }),
      );
    });
  });

  describe('counts', () => {
    it('are the same once they were written and read, and add up', () => {
      const counts = new Counts();
      counts.add(outcome({ handlerMs: 5, lagMs: 1_000 }));
      counts.add(outcome({ outcome: 'handler-failed', status: 500, queued: true, lagMs: 7 }));
      counts.add(outcome({ outcome: 'deadline', status: 503, late: true, handlerMs: 90 }));
      const read = Counts.from(copyOf(counts));
      expect(read.summary()).toEqual(counts.summary());
      read.merge(counts);
      expect(read.summary()).toMatchObject({
        deliveries: 4,
        failed: 2,
        late: 2,
        handlerMs: { count: 4 },
      });
    });

    it('take nothing from what cannot be read', () => {
      fc.assert(
        fc.property(fc.jsonValue(), (json) => {
          const { deliveries } = Counts.from(json).summary();
          expect(deliveries).toBe(0);
          CountSeries.from(HOUR, json, 0);
        }),
      );
    });
  });

  it('a day is refined by an hour that is newer', () => {
    const now = 1_800_000_000_000;
    const hour = new CountSeries(HOUR);
    const day = new CountSeries(DAY);
    day.add(outcome(), now - 2 * 3_600_000);
    for (const minutes of [0, 1, 2, 15]) hour.add(outcome(), now - minutes * 60_000);
    day.add(outcome(), now);
    day.refine(hour, now);
    expect(day.series(now).summary.deliveries).toBe(5);
  });
});
