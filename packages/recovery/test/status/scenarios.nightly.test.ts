import { describe, expect, it } from '@jest/globals';
import { INCIDENT, INCIDENT_AT, isWithin, ORDINARY, quickHandler } from './ordinary.ts';
import {
  COMPLETED,
  DAY,
  HOUR,
  MINUTE,
  MONDAY,
  officeHours,
  RECORDING,
  STARTED,
  usualDuration,
  type Caller,
  type EventName,
  type History,
} from './service-model.ts';
import { shown, watch, type Alarm, type Looks } from './watch.ts';

const SEEDS = [1, 2];
const EVERY = 20 * MINUTE;

/** The histories of all seeds, in everyday trouble. What is shown while the store is down is left out. */
async function watchAll(history: History, looks: Looks = {}) {
  const found: Alarm[][] = [];
  for (const seed of SEEDS) {
    const { alarms } = await watch({ ...ORDINARY, ...history, seed }, { every: EVERY, ...looks });
    found.push(alarms.filter(({ kind }) => kind !== 'store'));
  }
  return found;
}

/** From the incident on. */
const AFTER: Looks = { from: 8 * DAY, incident: INCIDENT };
const shownOf = (all: readonly Alarm[][]) => [...new Set(all.flat().map(shown))].sort();
const gone =
  (events: readonly EventName[], ms: number): NonNullable<History['isGone']> =>
  ({ event }, time) =>
    events.includes(event) && isWithin(time, ms);

/** Every seed shows it, and the last one after so long at most. */
function expectFirst(all: readonly Alarm[][], name: string, within: number, since = INCIDENT) {
  for (const alarms of all) {
    expect(alarms.map(shown)).toContain(name);
    const { first = Infinity } = alarms.find((one) => shown(one) === name) ?? {};
    expect((first - since) / HOUR).toBeLessThanOrEqual(within / HOUR);
  }
}

describe.each([5, 40, 200])('with %d calls a day', (perDay) => {
  const callers = (more: Partial<Caller> = {}): readonly Caller[] => [{ perDay, ...more }];
  /** For traffic of this size. */
  const of = <Value>(values: readonly [Value, Value, Value]) =>
    values[[5, 40, 200].indexOf(perDay)] as Value;

  describe('a rule that is paused by a 404', () => {
    it.each([
      [COMPLETED, [STARTED, COMPLETED, RECORDING]],
      [RECORDING, [STARTED, COMPLETED, RECORDING]],
      [STARTED, [STARTED, COMPLETED, RECORDING]],
      [COMPLETED, [STARTED, COMPLETED]],
      [COMPLETED, [COMPLETED, RECORDING]],
    ] as const)('%s is silent among %j', async (event, events) => {
      // With few calls, the first one after the incident, which is refused, is late.
      const found = await watchAll(
        { callers: callers(), events, isGone: gone([event], 5 * HOUR) },
        AFTER,
      );
      const name = `urgent silent by other-events ${event}`;
      expect(shownOf(found)).toEqual([name]);
      // A weak relation needs the next morning, and five calls a day need two days.
      expectFirst(found, name, of([34, 26, event === STARTED ? 8 : 3] as const) * HOUR);
    });

    it('on a Friday evening is silent on Monday', async () => {
      const friday = 11 * DAY + 17 * HOUR;
      const found = await watchAll(
        {
          ...{ callers: callers(), days: 16 },
          isGone: ({ event }, time) =>
            event === COMPLETED && time >= MONDAY + friday && time < MONDAY + friday + 4 * HOUR,
        },
        { from: 11 * DAY },
      );
      const name = `urgent silent by other-events ${COMPLETED}`;
      for (const alarms of found) expect(alarms.map(shown).every((one) => one === name)).toBe(true);
      if (perDay >= 40) expectFirst(found, name, 3 * DAY, friday);
    });

    it('with all others shows by the usual hours', async () => {
      const found = await watchAll(
        { callers: callers(), isGone: gone([STARTED, COMPLETED, RECORDING], 8 * HOUR) },
        AFTER,
      );
      expect(shownOf(found)).toEqual(perDay === 5 ? [] : ['silent by usual-hours']);
      if (perDay > 5) expectFirst(found, 'silent by usual-hours', of([0, 25, 2.3]) * HOUR);
    });

    it('is shown until it is resumed, and again when it is paused again', async () => {
      const found = await watchAll(
        {
          callers: callers(),
          isGone: ({ event }, time) =>
            event === COMPLETED &&
            (isWithin(time, 2 * HOUR) ||
              (time >= INCIDENT_AT + 2 * DAY && time < INCIDENT_AT + 2 * DAY + 4 * HOUR)),
          at: [[INCIDENT + 6 * HOUR, (model) => (model.rule(COMPLETED).isActive = true)]],
        },
        AFTER,
      );
      for (const alarms of found)
        for (const alarm of alarms)
          // The calls of the first pause count as calls without it. What was not sent in a pause is reported after it.
          expect(shown(alarm)).toMatch(
            /^(?:(?:urgent )?silent by other-events|missed) call:completed$/,
          );
      const times = found.map((alarms) =>
        alarms.reduce(
          (sum, { kind, times: shownTimes }) => sum + (kind === 'silent' ? shownTimes : 0),
          0,
        ),
      );
      if (perDay === 200) expect(times).toEqual(SEEDS.map(() => 2));
    });
  });

  it.each([
    ['is rejected', DAY, [`urgent rejected ${COMPLETED}`]],
    ['of three minutes is nothing', 3 * MINUTE, []],
  ])('a rotation that is not deployed %s', async (_what, ms, expected) => {
    const found = await watchAll(
      {
        ...{ callers: callers(), days: 10.2 },
        isVerified: ({ event }, time) => event !== COMPLETED || !isWithin(time, ms),
      },
      AFTER,
    );
    for (const name of expected) expect(shownOf(found)).toContain(name);
    // For a moment, an event that has just not arrived may be named as well.
    expect(shownOf(found).filter((name) => !name.startsWith('urgent rejected'))).toEqual([]);
    if (expected.length === 0) expect(shownOf(found)).toEqual([]);
  });

  it.each([3, 6, 10])(
    'a handler that fails is shown before the pause by %d attempts',
    async (max) => {
      const found = await watchAll(
        {
          ...{ callers: callers(), maxAttempts: max, days: 10.2 },
          handler: (run) => ({
            ...quickHandler(run),
            isOk: run.event !== COMPLETED || !isWithin(run.time, 3 * HOUR),
          }),
        },
        AFTER,
      );
      for (const alarms of found) {
        const [failing, silent] = alarms;
        if (!failing) continue; // of five calls a day, none came in these hours
        expect(shown(failing)).toBe(`urgent failing ${COMPLETED}`);
        expect(silent && shown(silent)).toBe(`urgent silent by retries ${COMPLETED}`);
        expect(failing.first).toBeLessThan(silent?.first ?? 0);
      }
      if (perDay > 5) expect(found.every((alarms) => alarms.length > 0)).toBe(true);
    },
  );

  it('a slow handler is slow', async () => {
    const found = await watchAll(
      {
        callers: callers(),
        handler: (run) =>
          run.event === COMPLETED && run.time >= INCIDENT_AT
            ? { isOk: true, ms: 12_000 }
            : quickHandler(run),
      },
      AFTER,
    );
    expect(shownOf(found)).toEqual([`slow ${COMPLETED}`]);
    expectFirst(found, `slow ${COMPLETED}`, of([30, 3, 1]) * HOUR);
  });

  it.each<[string, Partial<Caller>]>([
    ['calls of which 30 % have no recording', { recorded: () => 0.7 }],
    [
      'mornings without recordings',
      { recorded: (time) => (new Date(time).getUTCHours() < 12 ? 0 : 1) },
    ],
    ['calls of which 3 % have a recording', { recorded: () => 0.03 }],
    ['calls of which 20 % are never logged', { logged: 0.8 }],
    ['calls of 2 to 3.5 hours', { duration: (random) => (2 + 1.5 * random()) * HOUR }],
  ])('%s are no alarm', async (_what, caller) => {
    const found = await watchAll({ callers: callers(caller) });
    expect(shownOf(found)).toEqual([]);
  });

  it('calls that suddenly last 3 hours are reported once or twice at most', async () => {
    const duration: Caller['duration'] = (random, time) =>
      time > INCIDENT_AT ? 3 * HOUR : usualDuration(random);
    for (const alarms of await watchAll({ callers: callers({ duration }) }, AFTER))
      for (const { kind, times } of alarms) {
        // What was not sent in a silence is reported after it.
        expect(['silent', 'missed']).toContain(kind);
        expect(times).toBeLessThanOrEqual(2);
      }
  });

  it('clocks that differ by eight minutes are no alarm, and hide none', async () => {
    const processes = [{ ahead: 4 * MINUTE }, { ahead: -4 * MINUTE }];
    expect(shownOf(await watchAll({ callers: callers(), processes }))).toEqual([]);
    const rotated = await watchAll(
      {
        ...{ callers: callers(), processes, days: 10.2 },
        isVerified: ({ event }, time) => event !== COMPLETED || !isWithin(time, DAY),
      },
      AFTER,
    );
    expect(shownOf(rotated)).toContain(`urgent rejected ${COMPLETED}`);
  });

  it('processes that are killed are no alarm', async () => {
    const found = await watchAll({
      ...{ callers: callers(), kills: 0.05, isStoreDown: () => false },
      handler: (run) => ({ ...quickHandler(run), isOk: run.random() > 0.02 }),
    });
    expect(shownOf(found)).toEqual([]);
  });

  it('a holiday is reported by the usual hours at most', async () => {
    const isHoliday = (time: number) => time >= MONDAY + 9 * DAY && time < MONDAY + 10 * DAY;
    const rate = (time: number) => (isHoliday(time) ? 0 : officeHours(perDay)(time));
    const found = await watchAll({ callers: [{ rate }] });
    expect(['', 'silent by usual-hours']).toContain(shownOf(found).join());
  });

  it('a queue is stuck when its worker is dead, and only then', async () => {
    const found = await watchAll(
      { callers: callers(), isWorkerDown: (time) => isWithin(time, 6 * HOUR) },
      { from: 7 * DAY, incident: INCIDENT },
    );
    expect(shownOf(found)).toEqual(['stuck']);
    for (const [stuck] of found) expect(stuck?.last).toBeLessThan(INCIDENT + 6.2 * HOUR);
  });
});

describe('a fortnight of everyday trouble, of which 1 % of the runs fail', () => {
  it.each([
    [5, 0],
    [40, 0],
    [200, 0],
    // So many calls have one that fails three times.
    [3_000, 3],
  ])('with %d calls a day has at most %d alarms', async (perDay, most) => {
    const { alarms, model } = await watch(
      {
        ...{ ...ORDINARY, days: 14, callers: [{ perDay }] },
        handler: (run) => ({ ...quickHandler(run), isOk: run.random() > 0.01 }),
      },
      { every: EVERY },
    );
    const found = alarms.filter(({ kind }) => kind !== 'store');
    expect(found.filter(({ kind }) => kind !== 'failing').map(shown)).toEqual([]);
    expect(found.reduce((sum, { times }) => sum + times, 0)).toBeLessThanOrEqual(most);
    expect(model.pauses).toEqual([]);
  });
});
