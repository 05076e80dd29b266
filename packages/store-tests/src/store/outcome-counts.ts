import expect from '../../expect.cjs';
import {
  COUNTER_SERIES,
  type CounterSeries,
  LOG_LIMITS,
  type OutcomeLog,
} from '@call-webhooks/core/stores';
import { unique } from '../unique.ts';
import { HOUR_MS, MINUTE_MS, outcomeBatches } from './outcome-batches.ts';
import type { StoreTestContext } from './under-test.ts';

const SERIES = Object.keys(COUNTER_SERIES) as CounterSeries[];

/** What every log must do with counters, marks and processes. */
export function outcomeCounts(context: StoreTestContext): void {
  const { it, now, advance } = context;
  const { log, logs, batch, writer } = outcomeBatches(context);
  const minute = () => Math.floor(now() / MINUTE_MS);
  // A test that writes or reads more than once takes the time once: a minute may end in between.
  const period = (series: CounterSeries, at: number) =>
    Math.floor(at / COUNTER_SERIES[series].periodMs);

  /** What the last minutes have of these counters. */
  async function counted(by: OutcomeLog, ...names: string[]) {
    const counts = await by.counts('minutes', minute() - 5, minute());
    return names.map((name) =>
      [...counts.values()].reduce(
        (sum, found) => sum + (new Map(Object.entries(found)).get(name) ?? 0),
        0,
      ),
    );
  }

  it('adds counts exactly: 12 writers at once, which name the same counters in different orders', async () => {
    const names = Array.from({ length: 30 }, () => unique('outcome/webhook/a'));
    const [first = '', second = ''] = names;
    const last = minute();
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const writer = logs()[index % logs().length]!;
        for (let turn = 0; turn < 6; turn++) {
          const ordered = (index + turn) % 2 === 0 ? names : [...names].reverse();
          const each = (count: number) => Object.fromEntries(ordered.map((name) => [name, count]));
          const old = last - COUNTER_SERIES.minutes.keptMs / MINUTE_MS - 100 - turn;
          const minutes = {
            [old]: each(1),
            [last]: { ...each(1), [first]: 2 },
            [last - 1]: each(1),
          };
          const marks = Object.fromEntries(ordered.map((name) => [name, now()]));
          await Promise.all([
            writer.append(batch({ counts: { minutes }, marks })),
            ...(turn % 3 === 0 ? [writer.append(batch())] : []),
          ]);
        }
      }),
    );
    for (const one of logs()) expect(await counted(one, first, second)).toEqual([216, 144]);
    const found = await log().counts('minutes', last - 1, last - 1);
    expect([...found.keys()]).toEqual([last - 1]);
    expect(found.get(last - 1)).toMatchObject(Object.fromEntries(names.map((name) => [name, 72])));
    expect(await log().counts('minutes', last + 9, last + 10)).toEqual(new Map());
    expect(await log().counts('minutes', 0, last - 2, first)).toEqual(new Map());
  });

  it('keeps each series apart, and gives the counters with a prefix', async () => {
    const [tenant, other] = [unique('tenant_%'), unique('tenant')];
    const names = { [`${tenant}/a`]: 1, [`${tenant}/b`]: 2, [`${other}/a`]: 4 };
    const start = now();
    const counts = Object.fromEntries(
      SERIES.map((series, index) => [
        series,
        { [period(series, start)]: { ...names, [`${tenant}/${series}`]: index + 1 } },
      ]),
    );
    await log().append(batch({ counts }));
    for (const [index, series] of SERIES.entries()) {
      const at = period(series, start);
      const found = await log().counts(series, at, at, `${tenant}/`);
      expect(found).toEqual(
        new Map([
          [at, { [`${tenant}/a`]: 1, [`${tenant}/b`]: 2, [`${tenant}/${series}`]: index + 1 }],
        ]),
      );
      expect(await log().counts(series, at, at, unique('none'))).toEqual(new Map());
    }
  });

  it('counts a batch once, however often and on whatever connection it is appended', async () => {
    const name = unique('outcome/webhook/once');
    const once = batch({ counts: { minutes: { [minute()]: { [name]: 3 } } } });
    await Promise.all(logs().flatMap((one) => [one.append(once), one.append(once)]));
    await log().append(batch());
    await log().append(once);
    expect(await counted(log(), name)).toEqual([3]);
  });

  it('accepts any names of counters and marks', async () => {
    const names = ['__proto__', 'constructor', `'; -- \\ $1 ? "{}[]=%`, 'é\u{1f4de}', 'a b', ''];
    const marked = unique('');
    const counts = Object.fromEntries(names.map((name) => [`secret/${name}${marked}`, 1]));
    counts['toString'] = 1;
    Object.defineProperty(counts, '__proto__', { value: 1, enumerable: true });
    const marks = Object.fromEntries(Object.keys(counts).map((name) => [name, now()]));
    await log().append(batch({ counts: { minutes: { [minute()]: counts } }, marks }));
    const found = await counted(log(), ...Object.keys(counts));
    expect(found).toEqual(Object.keys(counts).map(() => 1));
    const kept = Object.keys((await log().marks()).marks);
    expect(kept).toEqual(expect.arrayContaining(Object.keys(marks)));
  });

  for (const series of SERIES)
    it(`forgets counters of the series ${series} after their time`, async () => {
      const { periodMs, keptMs } = COUNTER_SERIES[series];
      const name = unique('old');
      const start = now();
      const old = period(series, start - keptMs - 2 * periodMs);
      const oldest = period(series, start - keptMs + 2 * periodMs);
      const newest = period(series, start);
      const counts = {
        [old]: { [name]: 1 },
        [oldest]: { [name]: 2 },
        [newest]: { [name]: 4 },
      };
      await log().append(batch({ counts: { [series]: counts } }));
      await log().append(batch());
      const kept = await log().counts(series, 0, newest, name);
      expect([...kept.keys()].sort()).toEqual([oldest, newest]);
    });

  for (const days of [2.5, -2.5])
    it(`counts again after a clock that was ${days} days ahead`, async () => {
      const name = unique('outcome/webhook/clock');
      const id = unique('process');
      const start = now();
      const write = (offMs: number) => {
        const at = start + offMs;
        const counts = { minutes: { [period('minutes', at)]: { [name]: 1 } } };
        return log().append(batch({ process: writer({ id, at }), counts }));
      };
      await write(days * 24 * HOUR_MS);
      await write(0);
      await write(0);
      for (const one of logs()) {
        const all = await one.counts('minutes', 0, minute() + 10_000, name);
        expect([...all.values()].flatMap((found) => Object.values(found))).toHaveLength(1);
        expect(await counted(one, name)).toEqual([2]);
        expect((await one.processes()).some((seen) => seen.id === id)).toBe(true);
      }
    });

  it('keeps the newest time of a mark, whatever comes in between', async () => {
    const [name, other] = [unique('ack'), unique('failed')];
    const start = now() - HOUR_MS;
    const times = [1_000, 4_000, 2_000];
    await Promise.all(
      times.map((ms, index) =>
        logs()[index % logs().length]!.append(batch({ marks: { [name]: start + ms } })),
      ),
    );
    await log().append(batch({ marks: { [other]: start } }));
    for (const one of logs()) {
      const { marks, now: at } = await one.marks();
      expect(marks).toMatchObject({ [name]: start + 4_000, [other]: start });
      expect(Math.abs(at - now())).toBeLessThan(MINUTE_MS);
    }
  });

  for (const off of [4, -4])
    it(`has marks by its own clock, if that of a process is off by ${off} minutes`, async () => {
      const name = unique('ack');
      const wrong = now() + off * MINUTE_MS;
      const process = writer({ at: wrong });
      await log().append(batch({ process, marks: { [name]: wrong - 1_000 } }));
      const { marks, now: at } = await log().marks();
      expect(at - marks[name]!).toBeGreaterThanOrEqual(1_000);
      expect(at - marks[name]!).toBeLessThan(6_000);
      // A mark is never from the future.
      await log().append(batch({ process, marks: { [name]: wrong + HOUR_MS } }));
      const later = await log().marks();
      expect(later.marks[name]).toBeLessThanOrEqual(later.now);
      expect(later.now - later.marks[name]!).toBeLessThan(5_000);
    });

  it('forgets a mark after 30 days, and keeps the newest 2,000', async () => {
    const [old, kept] = [unique('ack'), unique('ack')];
    const marks = { [old]: now() - LOG_LIMITS.marksMs / 2, [kept]: now() };
    await log().append(batch({ marks }));
    expect((await log().marks()).marks).toMatchObject(marks);
    await advance(LOG_LIMITS.marksMs / 2 + HOUR_MS);
    // Also before somebody writes again.
    for (let writes = 0; writes < 2; writes++) {
      const names = Object.keys((await log().marks()).marks);
      expect(names).toContain(kept);
      expect(names).not.toContain(old);
      await log().append(batch());
    }
    for (let from = 0; from < LOG_LIMITS.marks; from += 500) {
      const many = Array.from({ length: 500 }, () => [unique('ack'), now()] as const);
      await log().append(batch({ marks: Object.fromEntries(many) }));
    }
    const newest = Object.keys((await log().marks()).marks);
    expect(newest).toHaveLength(LOG_LIMITS.marks);
    expect(newest).not.toContain(kept);
  });

  it('knows the processes that write, what they said last and when', async () => {
    const id = unique('process');
    const more = { version: '1.2 (é)', ackWithin: 20_000, rememberFor: 86_400_000 };
    const one = writer({ id, host: 'a', pid: 7, inFlight: 3, ...more });
    await log().append(batch({ process: one }));
    await log().append(batch({ process: { ...one, at: now() + 1, inFlight: 0 } }));
    const closed = { ...one, id: unique('process'), at: now(), closed: true } as const;
    await log().append(batch({ process: closed }));
    for (const by of logs()) {
      const seen = await by.processes();
      const [last] = seen.filter((found) => found.id === id);
      expect(last).toMatchObject({ id, host: 'a', pid: 7, inFlight: 0, ...more });
      expect(last!.closed).toBeUndefined();
      expect(Math.abs(last!.seenAt - now())).toBeLessThan(MINUTE_MS);
      expect(seen.find((found) => found.id === closed.id)).toMatchObject(closed);
    }
  });

  it('forgets a process 50 hours after its last batch', async () => {
    const [gone, lasting] = [unique('process'), unique('process')];
    const write = (id: string) => log().append(batch({ process: writer({ id }) }));
    await write(gone);
    await advance(LOG_LIMITS.processesMs / 2);
    await write(lasting);
    const idsAt = async () => (await log().processes()).map(({ id }) => id);
    expect(await idsAt()).toEqual(expect.arrayContaining([gone, lasting]));
    await advance(LOG_LIMITS.processesMs / 2 + 2 * MINUTE_MS);
    // Also before somebody writes again.
    for (let writes = 0; writes < 2; writes++) {
      const ids = await idsAt();
      expect(ids).toContain(lasting);
      expect(ids).not.toContain(gone);
      await write(lasting);
    }
  });

  it('keeps the 1,000 processes that wrote last', async () => {
    const write = async (by: OutcomeLog) => {
      const id = unique('process');
      await by.append(batch({ process: writer({ id }) }));
      return id;
    };
    const first = await write(log());
    // One round more than fit, since several may write in the same millisecond.
    for (let written = 0; written <= LOG_LIMITS.processes; written += 40)
      await Promise.all(Array.from({ length: 40 }, (_, at) => write(logs()[at % logs().length]!)));
    const last = await write(log());
    const ids = (await log().processes()).map(({ id }) => id);
    expect(ids).toContain(last);
    expect(ids).not.toContain(first);
    expect(Math.abs(ids.length - LOG_LIMITS.processes)).toBeLessThan(10);
  });
}
