import { describe, expect, it } from '@jest/globals';
import type { OutcomeCode } from '@call-webhooks/core';
import { reconcile, type ReconcileOptions } from '@call-webhooks/recovery';
import { call, clock, listing } from '../support/call-lists.ts';
import { DAY, HOUR, STARTED_AT } from '../support/world.ts';

type Spans = readonly (readonly [since: number, until: number])[];
const at = (hours: number) => STARTED_AT + hours * HOUR;
/** A millisecond, in hours. */
const MS = 1 / HOUR;

function covering(saved?: string) {
  const cursors = new Map<string, string>();
  if (saved !== undefined) cursors.set('call-webhooks.covered', saved);
  const run = async (
    [since, until]: Spans[number],
    more: Partial<ReconcileOptions> & { outcome?: OutcomeCode } = {},
  ) => {
    const { outcome = 'handled', ...options } = more;
    const { client } = listing([[call(15)]]);
    await reconcile({
      ...{ client, clock, since: new Date(at(since)), until: new Date(at(until)) },
      receiver: { deliver: async () => ({ outcome }) },
      store: {
        rememberFor: 3 * DAY,
        peek: async (keys) => keys.map(() => undefined),
        loadCursor: async (name) => cursors.get(name),
        saveCursor: async (name, cursor) => {
          if (cursor === undefined) cursors.delete(name);
          else cursors.set(name, cursor);
        },
      },
      ...options,
    });
  };
  const kept = (name = 'call-webhooks.covered') => {
    const text = cursors.get(name);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  };
  return { cursors, run, kept };
}

const spans = (all: Spans) => all.map(([since, until]) => ({ since: at(since), until: at(until) }));

describe('the time that runs have covered', () => {
  it.each<[what: string, runs: Spans, covered: Spans]>([
    ['of one run', [[2, 4]], [[2, 4]]],
    [
      'of runs with a gap between them',
      [
        [2, 4],
        [5, 6],
      ],
      [
        [2, 4],
        [5, 6],
      ],
    ],
    [
      'of a run that begins where the one before ended',
      [
        [2, 4],
        [4, 6],
      ],
      [[2, 6]],
    ],
    [
      'of a run that begins a millisecond later',
      [
        [2, 4],
        [4 + MS, 6],
      ],
      [
        [2, 4],
        [4 + MS, 6],
      ],
    ],
    [
      'of a run that overlaps with the one before',
      [
        [2, 5],
        [4, 6],
      ],
      [[2, 6]],
    ],
    [
      'of a run within the time of the one before',
      [
        [2, 8],
        [4, 5],
      ],
      [[2, 8]],
    ],
    [
      'of a run around the time of the one before',
      [
        [4, 5],
        [2, 8],
      ],
      [[2, 8]],
    ],
    [
      'of the same run again',
      [
        [2, 8],
        [2, 8],
      ],
      [[2, 8]],
    ],
    [
      'of an earlier run',
      [
        [6, 8],
        [2, 4],
      ],
      [
        [2, 4],
        [6, 8],
      ],
    ],
    [
      'of a run that fills the gap between two',
      [
        [2, 4],
        [6, 8],
        [4, 6],
      ],
      [[2, 8]],
    ],
    [
      'of a run over several of which the last one ends later',
      [
        [2, 3],
        [4, 9],
        [1, 5],
      ],
      [[1, 9]],
    ],
  ])('%s', async (_what, runs, covered) => {
    const { run, kept } = covering();
    for (const window of runs) await run(window);
    expect(kept()).toEqual({ 'call:completed': spans(covered) });
  });

  it('is the newest 20 stretches of each event, whatever the order of the runs', async () => {
    const { run, kept } = covering();
    const windows = Array.from({ length: 22 }, (_, index) => [index, index + 0.5] as const);
    for (const window of [...windows.slice(10), ...windows.slice(0, 10)]) await run(window);
    expect(kept()).toEqual({ 'call:completed': spans(windows.slice(2)) });
  });

  it('is told for each event that a run looked for, and for 20 names at most', async () => {
    const { run, kept } = covering();
    await run([2, 4], { recordings: true });
    const own =
      (name: string): ReconcileOptions['toEvents'] =>
      () => [{ eventName: name, eventId: 'e' }];
    for (let index = 0; index < 20; index++)
      await run([14, 16], { toEvents: own(`own:${String(index)}`) });
    await run([17, 18], { toEvents: own('own:0') });
    const names = Array.from({ length: 18 }, (_, index) => `own:${String(index)}`);
    expect(kept()).toEqual({
      'call:completed': spans([
        [2, 4],
        [14, 16],
        [17, 18],
      ]),
      'call:recording-available': spans([[2, 4]]),
      ...Object.fromEntries(names.map((name) => [name, spans([[14, 16]])])),
    });
  });

  it('is that of its tenant', async () => {
    const { run, kept, cursors } = covering();
    await run([2, 4], { tenant: 'acme' });
    await run([6, 8], { tenant: 'globex' });
    await run([10, 12]);
    expect([...cursors.keys()].sort()).toEqual([
      'call-webhooks.covered',
      'tenant:acme:call-webhooks.covered',
      'tenant:globex:call-webhooks.covered',
    ]);
    expect(kept('tenant:acme:call-webhooks.covered')).toEqual({
      'call:completed': spans([[2, 4]]),
    });
    expect(kept('tenant:globex:call-webhooks.covered')).toEqual({
      'call:completed': spans([[6, 8]]),
    });
    expect(kept()).toEqual({ 'call:completed': spans([[10, 12]]) });
  });

  it('is not that of a run in which an event failed, nor of a dry run', async () => {
    const { run, cursors } = covering();
    await run([12, 18], { outcome: 'handler-failed' });
    await run([12, 18], { dryRun: true });
    expect(cursors).toEqual(new Map());
  });

  it.each([
    ['no JSON', '{'],
    ['no object', '7'],
    ['null', 'null'],
    ['no lists', '{"call:completed":{"since":1,"until":2}}'],
    ['no times', '{"call:completed":[{"since":"1","until":2},{"since":1},null,7]}'],
  ])('begins anew if what was kept is %s', async (_what, saved) => {
    const { run, kept } = covering(saved);
    await run([2, 4]);
    expect(kept()).toEqual({ 'call:completed': spans([[2, 4]]) });
  });
});

describe('where the covered time ends', () => {
  const MINUTE = HOUR / 60;
  /** A run that begins at 24:00 and takes an hour and a half, the half of it for each of two pages. */
  async function slowRun(
    options: Partial<ReconcileOptions> & { outcomes?: readonly OutcomeCode[]; cutAfter?: number },
    cursors = new Map<string, string>(),
  ) {
    const { outcomes = [], cutAfter, ...more } = options;
    let now = at(24);
    const stopping = new AbortController();
    const { client } = listing([[call(16)], [call(15)]]);
    const list: typeof client.calls.list = (query) => {
      now += 45 * MINUTE;
      return client.calls.list(query);
    };
    const left = [...outcomes];
    let seen = 0;
    const running = reconcile({
      ...{ client: { ...client, calls: { ...client.calls, list } }, since: new Date(at(12)) },
      clock: { ...clock, now: () => now },
      receiver: { deliver: async () => ({ outcome: left.shift() ?? 'handled' }) },
      store: {
        rememberFor: 3 * DAY,
        loadCursor: async (name) => cursors.get(name),
        saveCursor: async (name, text) => void cursors.set(name, text ?? ''),
      },
      signal: stopping.signal,
      onProgress() {
        if ((seen += 1) === cutAfter) stopping.abort(new Error('a deploy'));
      },
      ...more,
    });
    await running.catch(() => undefined);
    const covered = cursors.get('call-webhooks.covered');
    return covered === undefined ? undefined : (JSON.parse(covered) as unknown);
  }
  const until = (hours: number) => ({ 'call:completed': spans([[12, hours]]) });
  const TEN_MINUTES = 10 / 60;

  it.each<[what: string, options: Parameters<typeof slowRun>[0], end: number | undefined]>([
    ['10 minutes before the run began', {}, 24 - TEN_MINUTES],
    ['at an earlier time that it was given', { until: new Date(at(20)) }, 20],
    ['when the run began, if that was given', { until: new Date(at(24)) }, 24],
    ['when the run began, if a later time was given', { until: new Date(at(25)) }, 24],
    [
      'there, although no other page is asked for',
      { newestFirst: true, since: new Date(at(15.5)) },
      24 - TEN_MINUTES,
    ],
    [
      'there, although its events were known',
      { outcomes: ['duplicate', 'duplicate'] },
      24 - TEN_MINUTES,
    ],
    ['nowhere, since an event failed', { outcomes: ['handler-failed'] }, undefined],
    ['nowhere, since the last event failed', { outcomes: ['handled', 'deadline'] }, undefined],
    ['nowhere, since the run was cut off', { cutAfter: 1 }, undefined],
    ['nowhere, since it was cut off in its last page', { cutAfter: 2 }, undefined],
    ['nowhere, since the receiver took nothing', { outcomes: ['shutting-down'] }, undefined],
  ])('is %s', async (_what, options, end) => {
    const covered = await slowRun(options);
    const since = options.since ? (options.since.getTime() - STARTED_AT) / HOUR : 12;
    expect(covered).toEqual(
      end === undefined ? undefined : { 'call:completed': spans([[since, end]]) },
    );
  });

  it.each([
    ['the same window', { until: new Date(at(20)) }, { until: new Date(at(20)) }, 20],
    ['what is newer as well', { until: new Date(at(20)) }, {}, 24 - TEN_MINUTES],
    ['an earlier end', {}, { until: new Date(at(20)) }, 20],
  ])(
    'after a run that was cut off is that of the run that ends: %s',
    async (_what, cut, next, end) => {
      const cursors = new Map<string, string>();
      expect(await slowRun({ ...cut, cutAfter: 1 }, cursors)).toBeUndefined();
      expect(await slowRun(next, cursors)).toEqual(until(end));
    },
  );
});
