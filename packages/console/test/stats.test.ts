import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Outcome } from '@call-webhooks/core';
import { Counts } from '../src/stats/counts.ts';
import { Histogram } from '../src/stats/histogram.ts';
import { CountSeries, DAY, HOUR } from '../src/stats/series.ts';

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
