import { describe, expect, it } from '@jest/globals';
import { collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { memoryStore } from '@call-webhooks/core';
import { startReconciler, type ReconcilerOptions } from '../../src/index.ts';
import { fastClock } from '../support/fast-clock.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ago = (ms: number) => NOW - ms;

interface Asked extends Partial<ReconcilerOptions> {
  /** What is saved of the runs before. */
  readonly saved?: object | string;
  readonly rememberFor?: number;
  /** What is saved under other names. */
  readonly others?: Readonly<Record<string, string>>;
  /** The outcome of the event of the one call, or an error of the service. */
  readonly outcome?: string | Error;
}

/** Starts a reconciler, and waits until its first run is over, or it has found that there is nothing to look at. */
async function firstRun(asked: Asked = {}) {
  const { saved, rememberFor = 7 * DAY, outcome = 'duplicate', others, ...options } = asked;
  const clock = fastClock(NOW);
  const cursors = new Map<string, string>(Object.entries(others ?? {}));
  const name = `${options.tenant === undefined ? '' : `tenant:${options.tenant}:`}${options.name ?? 'reconcile'}${options.dryRun ? '/dry-run' : ''}/schedule`;
  if (saved !== undefined)
    cursors.set(name, typeof saved === 'string' ? saved : JSON.stringify(saved));
  const memory = memoryStore({ now: clock.now });
  const over = deferred();
  const windows: { since: number; until: number; at: number }[] = [];
  const at = ago(HOUR);
  const list = async () => {
    if (outcome instanceof Error) throw outcome;
    return { results: [{ _id: 'c1', createdAt: at, endedAt: at }], hasNext: false };
  };
  const reconciler = startReconciler({
    client: { baseUrl: 'http://service', calls: { list, recording: list } } as never,
    receiver: {
      deliver: async () => ({ outcome, attempt: outcome === 'queued' ? 1 : 2 }),
    } as never,
    ...{ clock, logger: collectingLogger(), ...options },
    store: {
      ...{ ...memory, rememberFor },
      loadCursor: async (asked) => cursors.get(asked),
      async saveCursor(asked, cursor) {
        if (cursor === undefined) cursors.delete(asked);
        else cursors.set(asked, cursor);
        if (asked === name && cursor?.includes(`"ranAt":${String(clock.now())}`)) over.resolve();
      },
    },
    query({ since, until }) {
      windows.push({ since: since.getTime(), until: until.getTime(), at: clock.now() });
      return undefined;
    },
  });
  await over.promise;
  await reconciler.close();
  const kept = JSON.parse(cursors.get(name) ?? 'null') as unknown;
  return { windows, kept, cursors, endedAt: clock.now(), pending: clock.pending() };
}

const until = ago(10 * MINUTE);

describe('the window of a run', () => {
  it.each<[what: string, asked: Asked, since: number]>([
    [
      'begins six hours ago if everything before is done',
      { saved: { from: ago(3 * DAY), doneUntil: ago(HOUR), ranAt: ago(HOUR) } },
      ago(6 * HOUR),
    ],
    [
      'begins with what is not done yet, if that is longer ago',
      { saved: { from: ago(3 * DAY), doneUntil: ago(9 * HOUR), ranAt: ago(HOUR) } },
      ago(9 * HOUR),
    ],
    [
      'begins with the first process at the earliest',
      { saved: { from: ago(2 * HOUR), doneUntil: ago(9 * HOUR), ranAt: ago(HOUR) } },
      ago(2 * HOUR),
    ],
    [
      'begins with what the store remembers at the earliest',
      {
        saved: { from: ago(3 * DAY), doneUntil: ago(9 * HOUR), ranAt: ago(HOUR) },
        rememberFor: 7 * HOUR,
      },
      ago(7 * HOUR),
    ],
    [
      'begins lookBack ago',
      { saved: { from: ago(DAY), doneUntil: ago(HOUR), ranAt: ago(HOUR) }, lookBack: 2 * HOUR },
      ago(2 * HOUR),
    ],
    [
      'begins with what is not done yet rather than lookBack ago',
      { saved: { from: ago(DAY), doneUntil: ago(HOUR), ranAt: ago(HOUR) }, lookBack: MINUTE },
      ago(HOUR),
    ],
    ['begins with `since` in the very first run', { since: new Date(ago(DAY)) }, ago(DAY)],
    [
      'does not go back to `since` later on',
      {
        saved: { from: ago(2 * HOUR), doneUntil: ago(HOUR), ranAt: ago(HOUR) },
        since: new Date(ago(DAY)),
      },
      ago(2 * HOUR),
    ],
    [
      'is that of its tenant and its name',
      {
        saved: { from: ago(2 * HOUR), doneUntil: ago(HOUR), ranAt: ago(HOUR) },
        ...{ tenant: 'acme', name: 'nightly' },
      },
      ago(2 * HOUR),
    ],
    [
      'is that of its dry runs',
      { saved: { from: ago(2 * HOUR), doneUntil: ago(HOUR), ranAt: ago(HOUR) }, dryRun: true },
      ago(2 * HOUR),
    ],
  ])('%s', async (_what, asked, since) => {
    const { windows } = await firstRun(asked);
    expect(windows).toEqual([{ since, until, at: NOW }]);
  });

  it('ends settleFor ago', async () => {
    const saved = { from: ago(DAY), doneUntil: ago(HOUR), ranAt: ago(HOUR) };
    const { windows } = await firstRun({ saved, settleFor: 25 * MINUTE });
    expect(windows).toEqual([{ since: ago(6 * HOUR), until: ago(25 * MINUTE), at: NOW }]);
  });
});

describe('the time of the first run of a process', () => {
  const from = ago(DAY);
  it.each<[what: string, ranAt: number, every: number | undefined, waits: number]>([
    ['is at once if the last one is as long ago as an interval', ago(15 * MINUTE), undefined, 0],
    ['is when the interval is over', ago(15 * MINUTE - 1), undefined, 1],
    ['is when its own interval is over', ago(15 * MINUTE), 20 * MINUTE, 5 * MINUTE],
    ['is an interval later if another process has just run', NOW, undefined, 15 * MINUTE],
    // A clock was set back, or differs.
    [
      'is an interval after the last one, which was a second ahead',
      NOW + 1_000,
      undefined,
      15 * MINUTE + 1_000,
    ],
    [
      'is an interval after the last one, which was a minute ahead',
      NOW + MINUTE,
      undefined,
      16 * MINUTE,
    ],
    ['is at once if the last one was more than a minute ahead', NOW + MINUTE + 1, undefined, 0],
    ['is at once if the last one was a year ahead', NOW + 365 * DAY, undefined, 0],
  ])('%s', async (_what, ranAt, every, waits) => {
    const saved = { from, doneUntil: ago(HOUR), ranAt };
    const { windows } = await firstRun({ saved, ...(every && { every }) });
    expect(windows.map(({ at }) => at)).toEqual([NOW + waits]);
  });
});

describe('what a run leaves for the next one', () => {
  const saved = { from: ago(DAY), doneUntil: ago(9 * HOUR), ranAt: ago(HOUR) };

  it.each<[what: string, asked: Asked, kept: object]>([
    ['that found nothing', { saved }, { from: ago(DAY), doneUntil: until, ranAt: NOW }],
    [
      'in which an event failed',
      { saved, outcome: 'handler-failed' },
      { from: ago(DAY), doneUntil: ago(9 * HOUR), ranAt: NOW },
    ],
    [
      'that failed itself',
      { saved, outcome: new Error('no route') },
      { from: ago(DAY), doneUntil: ago(9 * HOUR), ranAt: NOW },
    ],
    [
      'that is the very first one, and has nothing to look at',
      {},
      { from: NOW, doneUntil: NOW, ranAt: NOW },
    ],
    [
      'that is the very first one, from a time on',
      { since: new Date(ago(DAY)) },
      { from: ago(DAY), doneUntil: until, ranAt: NOW },
    ],
    [
      'that could not read what the one before had left',
      { saved: 'no JSON', since: new Date(ago(DAY)) },
      { from: ago(DAY), doneUntil: until, ranAt: NOW },
    ],
    [
      'that found times that are none',
      { saved: { from: 'x', doneUntil: null, ranAt: '7' }, since: new Date(ago(DAY)) },
      { from: ago(DAY), doneUntil: until, ranAt: NOW },
    ],
    [
      'that found a time of a clock that was ahead',
      { saved: { ...saved, doneUntil: NOW + HOUR } },
      { from: ago(DAY), doneUntil: until, ranAt: NOW },
    ],
  ])('%s', async (_what, asked, kept) => {
    const run = await firstRun(asked);
    expect(run.kept).toEqual(kept);
    expect([run.endedAt, run.pending]).toEqual([NOW, 0]);
  });
});

describe('what a run leaves for status', () => {
  const saved = { from: ago(DAY), doneUntil: ago(9 * HOUR), ranAt: ago(HOUR) };
  const report = (name: string, at: number, missed: object = { x: 1 }) => ({
    ...{ name, at, since: at - HOUR, until: at - MINUTE, dryRun: true, missed },
  });
  const own = (more: object = {}) => ({
    ...{ name: 'reconcile', at: NOW, since: ago(9 * HOUR), until, dryRun: false },
    ...{ missed: { 'call:completed': 1 }, ...more },
  });
  const reportsOf = async (asked: Asked, name = 'call-webhooks.reconciled') => {
    const { cursors } = await firstRun({ saved, outcome: 'queued', ...asked });
    const text = cursors.get(name);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  };

  it('is how many events it missed, in its window, under its name and its tenant', async () => {
    expect(await reportsOf({})).toEqual([own()]);
    expect(await reportsOf({ outcome: 'duplicate' })).toEqual([own({ missed: {} })]);
    expect(await reportsOf({ dryRun: true })).toEqual([own({ dryRun: true })]);
    const acme = { tenant: 'acme', name: 'nightly' };
    expect(await reportsOf(acme)).toBeUndefined();
    expect(await reportsOf(acme, 'tenant:acme:call-webhooks.reconciled')).toEqual([
      own({ name: 'nightly' }),
    ]);
    expect(await reportsOf({ outcome: new Error('no route') })).toBeUndefined();
  });

  it('has 20 names of events, each with all that were missed', async () => {
    const names = Array.from({ length: 22 }, (_, index) => `own:${String(index)}`);
    const toEvents = () =>
      [...names, ...names].map((eventName, index) => ({ eventName, eventId: String(index) }));
    const missed = Object.fromEntries(names.slice(0, 20).map((name) => [name, 2]));
    expect(await reportsOf({ toEvents })).toEqual([own({ missed })]);
  });

  it('takes the place of its last report, and leaves those of the others', async () => {
    const before = [report('b', ago(5)), report('reconcile', ago(4)), report('a', ago(9))];
    const others = { 'call-webhooks.reconciled': JSON.stringify(before) };
    expect(await reportsOf({ others })).toEqual([
      ...[report('a', ago(9)), report('b', ago(5)), own()],
    ]);
  });

  it('is one of 20 reports, the newest ones', async () => {
    const before = Array.from({ length: 20 }, (_, at) => report(`r${String(at)}`, ago(at + 1)));
    const others = { 'call-webhooks.reconciled': JSON.stringify(before) };
    expect(await reportsOf({ others })).toEqual([...before.slice(0, 19).reverse(), own()]);
  });

  it('begins anew if what was saved cannot be read', async () => {
    for (const text of ['no JSON', '{}', 'null', '[{"name":"r"},null]'])
      expect(await reportsOf({ others: { 'call-webhooks.reconciled': text } })).toEqual([own()]);
  });
});
