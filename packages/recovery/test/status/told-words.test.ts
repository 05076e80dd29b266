import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { memoryDeadLetters } from '@call-webhooks/core';
import { counterName } from '@call-webhooks/core/stores';
import { status } from '@call-webhooks/recovery';
import { COMPLETED, HOUR, MINUTE, STARTED } from './service-model.ts';
import { ack, minutesAgo, NOW, rowAt, statusOf, storeWith, type Written } from './written-log.ts';

// Which words an item takes depends on how many there are, and on what they have in common.

const ago = (minutes: number) => NOW - minutes * MINUTE;
const failedMark = (tenant = '') => counterName('failed', tenant, COMPLETED, 's');
const textOf = async (written: Written) => (await statusOf(written)).attention[0]?.text;
const failing = (errors: readonly string[]): Written => ({
  failures: errors.map((error, index) =>
    rowAt(3 - index, { key: 'c1', attempt: index + 1, error: `The handler failed: ${error}` }),
  ),
  marks: { [failedMark()]: ago(1) },
  states: { c1: 'failed' },
});

describe('the error that failures have in common', () => {
  it.each([
    [
      'the same one',
      ['Error: no A', 'Error: no A', 'Error: no A'],
      'Each time, the error was `Error: no A`.',
    ],
    [
      'three that differ',
      ['Error: no A', 'Error: no B', 'Error: no C'],
      'The most frequent error is `Error: no A` (1 of 3 failures).',
    ],
    [
      'one that ends with a full stop',
      ['Error: no A.', 'Error: no A.', 'Error: no A.'],
      'Each time, the error was `Error: no A`.',
    ],
    [
      'one with names in backquotes',
      ['Error: no `a` in `b`', 'Error: no `a` in `b`', 'Error: no `a` in `b`'],
      "Each time, the error was `Error: no 'a' in 'b'`.",
    ],
  ])('is told: %s', async (_what, errors, sentence) => {
    const text = await textOf(failing(errors));
    expect(text).toContain(` ${sentence} The service sends`);
  });
});

it('an event that fails has the outcome of its last delivery, and what to do about that', async () => {
  const written = failing(['Error: no A', 'Error: no A']);
  const { attention } = await statusOf({
    ...written,
    failures: [...written.failures!, rowAt(1, { key: 'c1', attempt: 3, outcome: 'deadline' })],
  });
  expect(attention[0]?.text).toMatch(/^`call:completed` is failing \(`deadline`\)\./);
  expect(attention[0]?.fix).toContain('queue');
});

it('deliveries that cannot be told apart are counted by their outcome, not together', async () => {
  const told = async (outcomes: readonly ('overloaded' | 'shutting-down')[]) =>
    (
      await statusOf({
        failures: outcomes.map((outcome, index) => rowAt(11 - 5 * index, { outcome })),
      })
    ).attention.map(({ count }) => count);
  expect(await told(['overloaded', 'overloaded', 'overloaded'])).toEqual([1]);
  expect(await told(['overloaded', 'shutting-down', 'overloaded'])).toEqual([]);
});

it.each([
  ['an event acknowledged later', 0, 0],
  ['none acknowledged since', 5, 1],
])(
  'a store that knows no events leaves %s to tell whether one is open',
  async (_what, at, items) => {
    const { log } = await storeWith({
      failures: [11, 6, 1].map((minutes, index) =>
        rowAt(minutes, { key: 'c1', attempt: index + 1 }),
      ),
      marks: { [failedMark()]: ago(1), [ack(COMPLETED)]: ago(at) },
    });
    expect((await status({ store: { log } })).attention).toHaveLength(items);
  },
);

it.each([
  ['it', ['b1'], ['b1']],
  ['1 of them', ['b1', 'b2'], ['b1']],
  ['them', ['b1', 'b2'], ['b1', 'b2']],
])(
  'what a reconcile has handled of events whose retries did not come is %s',
  async (which, all, done) => {
    const text = await textOf({
      failures: all.map((key, index) => rowAt(62 - index, { key })),
      marks: { [failedMark()]: ago(60) },
      counts: {
        minutes: minutesAgo({
          10: { [counterName('outcome', 'reconcile', 'handled', COMPLETED)]: done.length },
        }),
      },
      states: Object.fromEntries(
        all.map((key) => [key, done.includes(key) ? 'handled' : 'failed']),
      ),
    });
    expect(text).toContain(
      ` Since then, reconcile has handled ${which}, which does not resume the rule.`,
    );
  },
);

it.each([
  [20, '20 minutes'],
  [60, '60 minutes'],
  [119, '119 minutes'],
  [120, '2 hours'],
  [179, '2 hours'],
])('a store that remembers events for %d minutes does so for %s', async (minutes, shown) => {
  const { attention } = await statusOf({
    marks: { [failedMark()]: ago(600) },
    rememberFor: minutes * MINUTE,
  });
  expect(attention[0]?.fix).toContain(
    `the store remembers handled events for ${shown} only, so older ones would run again.`,
  );
});

it.each([
  ['acme', 'acme'],
  ['a.b/c:d@e%f+g=h,i-j', 'a.b/c:d@e%f+g=h,i-j'],
  ['Acme Inc', "'Acme Inc'"],
  ['say "hi"', `'say "hi"'`],
  ["Ada's", `"Ada's"`],
  [`Ada's "shop"`, 'NAME'],
  ["Ada's $HOME", 'NAME'],
  ["Ada's shop!", 'NAME'],
])('the command of a tenant called %s has %s', async (tenant, word) => {
  const { attention } = await statusOf({ marks: { [failedMark(tenant)]: ago(60) } });
  expect(attention[0]?.fix).toContain(` --tenant ${word} --to URL`);
});

it('two times of the same day before have their day, both of them', async () => {
  const report = {
    ...{ name: 'r', at: ago(30), dryRun: false, missed: { [COMPLETED]: 2 } },
    ...{ since: NOW - 20 * HOUR, until: NOW - 18 * HOUR },
  };
  const cursors = { 'call-webhooks.reconciled': JSON.stringify([report]) };
  expect(await textOf({ cursors })).toContain(
    'for calls between Sunday 18:00 UTC and Sunday 20:00 UTC.',
  );
});

describe('dead letters that wait', () => {
  const letter = (key: string, more: object = {}) =>
    deadLetter({
      key,
      eventName: COMPLETED,
      failedAt: new Date(ago(60)),
      errorText: 'Error: x',
      ...more,
    });

  it('of a receiver that has tenants now are counted once, also those of before', async () => {
    const deadLetters = memoryDeadLetters();
    await deadLetters.put({ ...letter('a'), tenant: 'acme' });
    await deadLetters.put(letter('before'));
    const { attention } = await statusOf({
      marks: { [ack(COMPLETED)]: ago(9_000), [ack(COMPLETED, 'acme')]: NOW },
      asked: { deadLetters },
    });
    const waiting = attention.filter(({ kind }) => kind === 'failing');
    expect(waiting.map(({ tenant, eventName, count }) => [tenant, eventName, count])).toEqual([
      ['acme', COMPLETED, 1],
      [undefined, undefined, 1],
    ]);
  });

  it('have the error of all that are looked at, which are 100', async () => {
    const deadLetters = memoryDeadLetters();
    for (let at = 0; at <= 100; at++) await deadLetters.put(letter(`c${String(at)}`));
    const marks = { [ack(COMPLETED)]: NOW };
    const text = await textOf({ marks, asked: { deadLetters } });
    expect(text).toMatch(/^101 .* Each time, the error was `Error: x`\./);
  });

  it('and were removed are counted by their events, however often the log has one', async () => {
    const dead = (minutes: number, key: string) =>
      rowAt(minutes, { key, outcome: 'dead-lettered' });
    const { notes } = await statusOf({
      failures: [dead(60, 'd1'), dead(30, 'd1'), dead(20, 'd2')],
      marks: { [ack(COMPLETED)]: NOW },
      states: { d1: 'dead-lettered', d2: 'dead-lettered' },
      asked: { deadLetters: memoryDeadLetters() },
    });
    expect(notes[0]?.text).toMatch(
      /^2 `call:completed` events have become dead letters since 13:00/,
    );
  });
});

it('deliveries that wait in a queue wait since the first one that the counters know, if its row is gone', async () => {
  const queued = counterName('outcome', 'webhook', 'queued', COMPLETED);
  const since = async (minutes: number) =>
    (
      await statusOf({
        counts: { minutes: minutesAgo({ 20: { [queued]: 2 } }) },
        rows: [rowAt(minutes, { outcome: 'queued', key: 'q1' })],
        marks: { queue: ago(40) },
      })
    ).attention.map((one) => [one.kind, one.since]);
  expect(await since(19.5)).toEqual([['stuck', ago(19.5)]]);
  expect(await since(18)).toEqual([['stuck', ago(19) - 1]]);
});

describe('what a status reads of a log', () => {
  const reads = async (written: Written) => {
    const { log } = await storeWith(written);
    const asked: unknown[] = [];
    const read: NonNullable<typeof log>['read'] = async (query) => {
      asked.push(query);
      return log!.read(query);
    };
    await status({ store: { log: { ...log!, read } } });
    return asked;
  };

  it('is the failures of the last 26 hours alone as long as all is well', async () => {
    expect(await reads({ marks: { [ack(COMPLETED)]: NOW, [ack(STARTED)]: NOW } })).toMatchObject([
      { only: 'failures', since: NOW - 26 * HOUR },
    ]);
  });

  it('is 5,000 failures at most, the newest ones, of a log that has more', async () => {
    let pages = 0;
    const { log } = await storeWith({ marks: { [ack(COMPLETED)]: NOW } });
    const read = async () => {
      pages += 1;
      const rows = Array.from({ length: 1_000 }, () => rowAt(pages, { outcome: 'overloaded' }));
      return pages < 20 ? { rows, before: String(pages) } : { rows };
    };
    const { attention } = await status({ store: { log: { ...log!, read } } });
    expect([attention.length, pages]).toEqual([0, 5]);
  });

  it('is understood in the order of its times, whatever the order in its pages', async () => {
    const { log } = await storeWith({ marks: { [failedMark()]: ago(1) } });
    const row = (minutes: number, attempt: number, outcome: 'overloaded' | 'handler-failed') =>
      rowAt(minutes, { key: 'c1', attempt, outcome });
    const first = row(16, 1, 'overloaded');
    const pages = [
      [row(1, 4, 'handler-failed'), row(6, 3, 'overloaded')],
      [first, row(11, 2, 'overloaded')],
    ];
    for (const [newest, oldest] of [pages, pages.map((page) => [...page].reverse())]) {
      const read = async ({ before }: { before?: string | undefined } = {}) =>
        before === undefined ? { rows: newest!, before: 'oldest' } : { rows: oldest! };
      const peek = async (keys: readonly string[]) => keys.map(() => 'failed' as const);
      const store = { log: { ...log!, read }, peek, rememberFor: 24 * HOUR };
      const { attention } = await status({ store, timeZone: 'UTC' });
      expect(attention[0]?.text).toMatch(
        /^`call:completed` is failing \(`handler-failed`\)\. One event has failed 4 times, first at 13:44 UTC and last at 13:59 UTC/,
      );
    }
  });

  it('is no row of more than ten tenants whose deliveries are rejected', async () => {
    const read = async (tenants: number) => {
      const all = Array.from({ length: tenants }, (_, at) => `tenant-${String(at)}`);
      const minutes: Record<number, Record<string, number>> = {};
      for (const [at, tenant] of all.entries())
        for (const minute of [20 * at + 6, 20 * at + 1])
          minutes[minute] = { [counterName('rejected', 'signature-mismatch', tenant)]: 1 };
      const asked = await reads({
        marks: Object.fromEntries(all.map((tenant) => [ack(COMPLETED, tenant), ago(600)])),
        counts: { minutes: minutesAgo(minutes) },
      });
      return asked.length;
    };
    expect([await read(9), await read(10), await read(12)]).toEqual([1 + 18, 1 + 20, 1 + 20]);
  });
});
