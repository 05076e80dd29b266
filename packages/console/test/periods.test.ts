import { describe, expect, it } from '@jest/globals';
import type { FailureCauses, Overview, Times } from '../src/api-types.ts';
import { NOW, open, wrote } from './support.ts';

const HOUR = 3_600_000;
const failed = (error: string, at: number, more: object = {}) => ({
  ...{ outcome: 'handler-failed' as const, error, at, eventName: 'call:completed', ...more },
});

describe('api/failures', () => {
  const textsOf = ({ causes }: FailureCauses) => causes.map(({ text }) => text);

  it('are those of the last 26 hours, or since a time and before another one', async () => {
    const { get, log } = open();
    const rows = [
      failed('old', NOW - 27 * HOUR),
      failed('new', NOW - 25 * HOUR),
      failed('now', NOW),
    ];
    for (const row of rows) await wrote(log, [row]);
    const found = async (query: string) =>
      textsOf(await get<FailureCauses>(`/api/failures${query}`)).sort();
    expect(await found('')).toEqual(['new', 'now']);
    expect(await found('?since=0')).toEqual(['new', 'now', 'old']);
    expect(await found(`?since=0&until=${NOW}`)).toEqual(['new', 'old']);
    expect(await found(`?since=0&until=${NOW + 1}`)).toEqual(['new', 'now', 'old']);
    expect(await found(`?since=${NOW - 25 * HOUR}`)).toEqual(['new', 'now']);
    expect(await found(`?since=${NOW - 25 * HOUR + 1}`)).toEqual(['now']);
  });

  it('are most frequent first, and of those that are as frequent the newest first', async () => {
    const { get, log } = open();
    for (const [index, error] of ['once', 'early', 'late', 'early', 'late'].entries())
      await wrote(log, [failed(error, NOW - 60_000 + index)]);
    expect(textsOf(await get<FailureCauses>('/api/failures'))).toEqual(['late', 'early', 'once']);
  });

  it('are none of what ended late: its own outcome was counted when the response was sent', async () => {
    const { get, log } = open();
    await wrote(log, [failed('in time', NOW - 1), failed('late', NOW, { late: true })]);
    const found = await get<FailureCauses>('/api/failures');
    expect([textsOf(found), found.failures]).toEqual([['in time'], 1]);
  });
});

it('api/times of one event have the times of the store and of the way, which are of no event', async () => {
  const { get, log } = open();
  const times = {
    ...{ 'handlerMs/call:completed/10': 4, 'handlerMs/call:started/20': 4 },
    ...{ 'storeMs/5': 2, 'lagMs/6': 2 },
  };
  await wrote(log, [{ outcome: 'handled', at: NOW }], { times });
  const whole = await get<Times>('/api/times');
  const own = await get<Times>('/api/times?event=call:completed');
  expect(own).toMatchObject({ store: whole.store, lag: whole.lag });
  for (const part of [own.store, own.lag, own.handler]) expect(part).not.toBeNull();
  expect(own.handler!.p95).toBeLessThan(whole.handler!.p95);
});

// It is 12:05. An hour begins at 11:06, and its times with the ten minutes that it begins in.
it.each([
  ['31T12:07', [false, true, false, true], ['31T12:00', '31T12:00']],
  ['31T12:06', [true, true, true, true], ['31T12:00', '31T12:00']],
  ['31T12:05', [true, true, true, true], ['31T12:00', '31T12:00']],
  ['31T11:06', [true, true, true, true], ['31T11:00', '31T11:00']],
  ['31T11:05', [false, true, true, true], ['31T11:00', '31T11:00']],
  ['31T11:00', [false, true, true, true], ['31T11:00', '31T11:00']],
  ['31T10:59', [false, false, true, true], [undefined, '31T10:50']],
  ['30T10:10', [false, false, true, true], [undefined, '30T10:10']],
  ['30T10:09', [false, false, false, false], [undefined, undefined]],
])(
  'what ended at %s is in the counts and times of an hour and of 26 hours, and in their points: %j %j',
  async (time, known, points) => {
    const { get, log, clock } = open();
    clock.now = NOW + 5 * 60_000;
    const at = Date.parse(`2026-01-${time}:00Z`);
    await wrote(log, [{ outcome: 'handled', at }], { times: { 'handlerMs/call:started/10': 1 } });
    const { hour, day } = (await get<Overview>('/api/overview')).log!;
    const isKnown = [hour, day].flatMap(({ sources, handlerMs }) => [
      sources.webhook?.total === 1,
      handlerMs !== null,
    ]);
    expect(isKnown).toEqual(known);
    const pointsOf = async (range: string) => {
      const times = await get<Times>(`/api/times?range=${range}`);
      const [found, ...others] = times.points.filter(({ handler }) => handler !== null);
      expect([others, times.handler !== null]).toEqual([[], found !== undefined]);
      return found && new Date(found.at).toISOString().slice(8, 16);
    };
    expect([await pointsOf('hour'), await pointsOf('day')]).toEqual(points);
  },
);

describe('api/overview', () => {
  const overview = async ({ get }: ReturnType<typeof open>) =>
    (await get<Overview>('/api/overview')).log!;

  it('has what was counted since it was read last, also in a minute that it had read', async () => {
    const opened = open();
    const { log, clock } = opened;
    const total = async () => (await overview(opened)).hour.sources.webhook?.total;
    await wrote(log, [{ outcome: 'handled' }]);
    expect(await total()).toBe(1);
    await wrote(log, [{ outcome: 'handled' }, { outcome: 'handled' }]);
    clock.now += 1_000;
    expect(await total()).toBe(3);
  });

  it.each([
    [59, 'in-use'],
    [61, 'quiet'],
    // Longer ago than the counters and the rows of the log reach.
    [27 * 60, 'quiet'],
    [29 * 24 * 60, 'quiet'],
  ])(
    'a secret that verified a delivery %i minutes ago is %s, also if only its mark is kept',
    async (minutes, state) => {
      const opened = open();
      const at = NOW - minutes * 60_000;
      const marks = { 'ack//call:completed/blue': at };
      await wrote(opened.log, [{ outcome: 'handled', at: NOW - 5 * HOUR }], { marks });
      expect((await overview(opened)).secrets).toMatchObject([{ id: 'blue', state, lastAt: at }]);
    },
  );

  it('a version runs since its first process has started, whichever wrote last', async () => {
    const opened = open();
    for (const [id, hours] of [
      ['p1', 2],
      ['p2', 5],
      ['p3', 3],
    ] as const)
      await wrote(opened.log, [{ outcome: 'handled' }], {
        ...{ id, version: '2.0', startedAt: NOW - hours * HOUR },
      });
    await wrote(opened.log, [{ outcome: 'handled' }], {
      ...{ id: 'p4', version: '2.1', startedAt: NOW - HOUR },
    });
    expect((await overview(opened)).versions).toEqual([
      { version: '2.1', since: NOW - HOUR, processes: 1 },
      { version: '2.0', since: NOW - 5 * HOUR, processes: 3 },
    ]);
  });
});
