import { describe, expect, it } from '@jest/globals';
import type { DeadLetter } from '../../src/index.ts';
import {
  batchBefore,
  checkDeadLetterQuery,
  clockAhead,
  type DeadLetterFailure,
  deadLetterPage,
  DEFAULT_GRACE_MS,
  eraser,
  fromRecord,
  keptPeriods,
  keptRows,
  MAX_FAILURES,
  type OutcomeErasure,
  type OutcomeRow,
  RELEASE_MS,
  rowsOfBatch,
  toFailureJson,
  toRecord,
  withBody,
  withFailure,
} from '../../src/stores.ts';
import { bytes, NOW } from '../support.ts';

// What every store counts, keeps and reads alike, so that no store decides it anew.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const row = (at: number, more: Partial<OutcomeRow> = {}): OutcomeRow => ({
  ...{ at, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1 },
  ...more,
});
const ids = (rows: readonly OutcomeRow[]) => rows.map(({ callId }) => callId);

it('times that an author may rely on', () => {
  expect([DEFAULT_GRACE_MS, RELEASE_MS, MAX_FAILURES]).toEqual([10_000, 1_000, 50]);
});

describe('pages of the outcome log', () => {
  it.each([
    [undefined, undefined],
    ['1', 1],
    ['120', 120],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('before %j are those before the batch %p', (before, number) => {
    expect(batchBefore(before)).toBe(number);
  });

  it.each(['', '0', '01', '-1', '1.5', ' 1', '1 ', 'x', '9007199254740992', 1, null])(
    'before %j is no cursor',
    (before) => {
      expect(() => batchBefore(before)).toThrow(
        expect.objectContaining({ code: 'invalid-cursor' }),
      );
    },
  );
});

it.each([
  [0, 0],
  [4_999, 0],
  [5_000, 5_000],
  [-4_999, 0],
  [-5_000, -5_000],
  [HOUR, HOUR],
])('a clock that is %d ms ahead counts as %d ms ahead', (ms, ahead) => {
  expect(clockAhead(NOW + ms, NOW)).toBe(ahead);
});

it.each([
  ['minutes', MINUTE, 50 * 60],
  ['times', 10 * MINUTE, 50 * 6],
  ['arrivals', 10 * MINUTE, 8 * 24 * 6],
] as const)('the periods of %s of %d ms are kept, %d of each side', (series, periodMs, count) => {
  const period = 2_000_000;
  expect(keptPeriods(series, period * periodMs)).toEqual([period - count, period + count]);
  expect(keptPeriods(series, period * periodMs + 1)).toEqual([period - count + 1, period + count]);
  expect(keptPeriods(series, period * periodMs - 1)).toEqual([period - count, period + count - 1]);
});

describe('the rows of a batch', () => {
  const rows = [
    row(NOW + 2, { callId: 'b' }),
    row(NOW, { callId: 'a' }),
    row(NOW + 9, { callId: 'c' }),
  ];

  it('are kept as they are, with the times by the clock of the store', () => {
    expect(keptRows([])).toBeUndefined();
    const kept = { count: 3, rows: JSON.stringify(rows) };
    expect(keptRows(rows)).toEqual({ ...kept, first: NOW, last: NOW + 9 });
    expect(keptRows(rows, HOUR)).toEqual({ ...kept, first: NOW - HOUR, last: NOW + 9 - HOUR });
  });

  it('are read by the clock of the store, the newest first, and failures last at the same time', () => {
    const kept = (given: OutcomeRow[], ahead: number) => ({ rows: JSON.stringify(given), ahead });
    const failures = [row(NOW + 2, { callId: 'f1' }), row(NOW + 5, { callId: 'f2' })];
    const both = [kept(rows, 0), kept(failures, 0)];
    expect(ids(rowsOfBatch(both, {}))).toEqual(['c', 'f2', 'b', 'f1', 'a']);
    expect(ids(rowsOfBatch(both, { since: NOW + 2, until: NOW + 5 }))).toEqual(['f2', 'b', 'f1']);
    const ahead = rowsOfBatch([kept(rows, 7), kept(failures, -3)], {});
    expect(ahead.map(({ callId, at }) => [callId, at - NOW])).toEqual([
      ['f2', 8],
      ['f1', 5],
      ['c', 2],
      ['b', -5],
      ['a', -7],
    ]);
    expect(ids(rowsOfBatch([kept(rows, 7)], { since: NOW - 5, until: NOW }))).toEqual(['b']);
  });
});

describe('what is erased of the rows of a store', () => {
  const ahead = 1_000;
  const all = [
    row(NOW, { callId: 'c1', key: 'k1', tenant: 'acme' }),
    row(NOW + 1, { callId: 'c2', key: 'k2', tenant: 'acme' }),
    row(NOW + 2, { callId: 'c1', key: 'k3', tenant: 'globex' }),
    row(NOW + 3, { callId: 'c4', key: '[redacted]', tenant: '[redacted]' }),
    row(NOW + 4),
  ];
  const kept = { rows: JSON.stringify(all), ahead };

  it.each<[OutcomeErasure, number[]]>([
    [{ callIds: ['c1'] }, [0, 2]],
    [{ callIds: ['c1', 'c4', 'none'] }, [0, 2, 3]],
    [{ keys: ['k2', 'k3'] }, [1, 2]],
    [{ callIds: ['c2'], keys: ['k1'] }, [0, 1]],
    [{ tenant: 'acme' }, [0, 1]],
    [{ tenant: 'ada@example.com' }, [3]],
    [{ keys: ['ada@example.com'] }, [3]],
    [{ callIds: ['c1'], tenant: 'globex' }, [2]],
    [{ before: NOW - ahead + 2 }, [0, 1]],
    [{ before: NOW - ahead + 3, tenant: 'acme', callIds: ['c1'] }, [0]],
    [{ before: NOW - ahead }, []],
    [{ callIds: [] }, []],
  ])('with %j, the rows %j go', (which, gone) => {
    const { rows, erased } = eraser(which)!(kept);
    expect(erased).toBe(gone.length);
    expect(JSON.parse(rows)).toEqual(all.filter((_row, at) => !gone.includes(at)));
    if (gone.length === 0) expect(rows).toBe(kept.rows);
  });

  it('is nothing if nothing is named', () => {
    expect(eraser({})).toBeUndefined();
    expect(eraser({ callIds: undefined, keys: undefined })).toBeUndefined();
  });
});

describe('a dead letter as a database keeps it', () => {
  const letter: DeadLetter = {
    ...{ reason: 'handler-failed', tenant: 'acme', webhookId: 'w1', eventName: 'call:started' },
    ...{ callId: 'c1', key: 'tenant:acme:c1:call:started', attempt: 3, source: 'webhook' },
    ...{ rawBody: bytes('{"a":1}'), error: new Error('no'), errorText: 'Error: no' },
    ...{ errorStack: 'at f', timestamp: new Date(NOW - 9_000), failedAt: new Date(NOW) },
  };

  it('has all that it was made of, and its last failure', async () => {
    const record = await toRecord(letter);
    expect(record).toEqual({
      id: expect.stringMatching(/^[\da-f]{24}$/),
      ...{ eventName: 'call:started', tenant: 'acme', reason: 'handler-failed', failedAt: NOW },
      ...{ body: btoa('{"a":1}'), letter: expect.any(String), failure: expect.any(String) },
    });
    const again: DeadLetterFailure = {
      ...{ at: new Date(NOW + 5), source: 'redrive', attempt: 4, error: 'Error: again' },
    };
    const until = new Date(NOW + 60_000);
    const failures = [record.failure, toFailureJson(again)];
    const listed = fromRecord(record.id, record.letter, failures, until);
    expect(listed).toEqual({
      id: record.id,
      ...{ reason: 'handler-failed', tenant: 'acme', webhookId: 'w1', eventName: 'call:started' },
      ...{ callId: 'c1', key: 'tenant:acme:c1:call:started', bytes: 7 },
      ...{ timestamp: new Date(NOW - 9_000), failedAt: new Date(NOW + 5), claimedUntil: until },
      ...{ source: 'redrive', attempt: 4, error: 'Error: again' },
      history: [
        {
          ...{
            at: new Date(NOW),
            source: 'webhook',
            attempt: 3,
            error: 'Error: no',
            stack: 'at f',
          },
        },
        again,
      ],
    });
    expect(withBody(listed, record.body)).toEqual({ ...listed, rawBody: bytes('{"a":1}') });
    expect((await toRecord({ ...letter, id: 'own' })).id).toBe('own');
  });

  it('has its first failure and the 49 newest ones', () => {
    let failures: number[] = [];
    for (let at = 1; at <= 50; at++) failures = withFailure(failures, at);
    expect(failures).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
    failures = withFailure(withFailure(failures, 51), 52);
    expect(failures).toEqual([1, ...Array.from({ length: 49 }, (_, at) => at + 4)]);
  });

  it('is on a page with a cursor if there is one more, and the next page begins after it', async () => {
    const record = await toRecord(letter);
    const listed = (at: number) =>
      fromRecord(`id-${String(at)}`, record.letter, [
        toFailureJson({ at: new Date(NOW + at), source: 'webhook', attempt: 1, error: 'no' }),
      ]);
    const letters = [1, 2, 3].map(listed);
    expect(deadLetterPage([], 2)).toEqual({ letters: [] });
    expect(deadLetterPage(letters, 3)).toEqual({ letters });
    const { letters: page, cursor } = deadLetterPage(letters, 2);
    expect(page).toEqual(letters.slice(0, 2));
    expect(checkDeadLetterQuery({ cursor }).after).toEqual({ failedAt: NOW + 2, id: 'id-2' });
  });
});

it('a query of dead letters is checked, and has its defaults', () => {
  expect(checkDeadLetterQuery()).toEqual({
    ...{ eventName: undefined, reason: undefined, tenant: undefined, after: undefined },
    ...{ since: 0, until: 8.64e15, limit: 100 },
  });
  const [since, until] = [new Date(NOW), new Date(NOW + 1)];
  const filter = { eventName: 'a\0', reason: 'invalid-payload', tenant: 'acme' } as const;
  expect(checkDeadLetterQuery({ ...filter, since, until, limit: 7 })).toEqual({
    ...{ ...filter, eventName: 'a\ufffd', after: undefined },
    ...{ since: NOW, until: NOW + 1, limit: 7 },
  });
  const longAgo = new Date(-1);
  expect(checkDeadLetterQuery({ since: longAgo, until: longAgo })).toMatchObject({
    ...{ since: 0, until: 0 },
  });
});
