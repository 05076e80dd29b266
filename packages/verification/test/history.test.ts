import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { memoryStore, type Store } from '@call-webhooks/core';
import { checkHistory } from '../src/history/check/check.ts';
import { timelineOf } from '../src/history/explain.ts';
import { usesCompleteIn } from '../src/history/effects.ts';
import { Journal, readJournal, type JournalEntry, type RunEntry } from '../src/history/journal.ts';
import { journaledStore } from '../src/history/journaled-store.ts';
import { NOTICED_MS } from '../src/history/monitors.ts';

// The check that scripts/history.ts runs. That it finds bugs is shown here, as a run under real faults
// meets a bug only by chance.

// Entries of handwritten histories, all about one event.

const key = 'call-1:call:completed';
const run = (kind: RunEntry['kind'], at: number, pid = 1, attempt = 1): JournalEntry => ({
  ...{ kind, at, pid, key, attempt },
});
const delivery = (until: number, status = 200, outcome = 'handled'): JournalEntry => ({
  ...{ kind: 'delivery', at: until - 50, until, key, status, outcome },
});
const claimed = (at: number, pid = 1, attempt = 1): JournalEntry => ({
  ...{
    kind: 'claimed',
    at,
    until: at + 1,
    pid,
    key,
    attempt,
    token: `token ${pid}`,
    leaseMs: 1_000,
  },
});
const renewed = (at: number, pid = 1): JournalEntry => ({
  ...{ kind: 'renewed', at, until: at + 1, pid, key, token: `token ${pid}`, leaseMs: 1_000 },
});
const settled = (
  at: number,
  pid = 1,
  how: 'complete' | 'release' = 'complete',
  held = true,
): JournalEntry[] => {
  const common = { at, pid, key, how, token: `token ${pid}` };
  return [
    { kind: 'settling', ...common },
    { kind: 'settled', ...common, until: at + 1, held },
  ];
};
const fault = (
  what: 'kill' | 'freeze' | 'server',
  at: number,
  until: number,
  pid = 1,
): JournalEntry => ({
  ...{ kind: 'fault', fault: what, at, until },
  ...(what !== 'server' && { pid }),
});

const violations = (entries: JournalEntry[], queued = false) =>
  checkHistory(entries, { queued }).violations;

/** One event as it should be: claimed, run, completed, acknowledged. */
const fine = [claimed(0), run('begin', 5), run('effect', 10), ...settled(12), delivery(20)];
/** Process 1 stands still from 20 to 1500, and process 2 runs the event meanwhile. */
const [one, two] = [
  [claimed(0), run('begin', 5)],
  [claimed(1_100, 2, 2), run('begin', 1_105, 2, 2)],
];
const frozen = fault('freeze', 20, 1_500);

const sound: [string, JournalEntry[]][] = [
  ['an event that is handled once', fine],
  ['an event and a duplicate of it', [...fine, delivery(90, 200, 'duplicate')]],
  [
    'a failure and its retry',
    [
      ...[claimed(0), run('begin', 5), run('failed', 10), ...settled(12, 1, 'release')],
      ...[delivery(20, 500, 'handler-failed'), claimed(320, 2, 2), run('begin', 325, 2, 2)],
      ...[run('effect', 330, 2, 2), ...settled(331, 2), delivery(340)],
    ],
  ],
  [
    'a dead letter in place of an effect',
    [claimed(0), run('begin', 5), run('failed', 10), run('dead', 11), ...settled(12), delivery(20)],
  ],
  [
    'a process killed after its effect, and a lease that ran out',
    [
      ...[...one, run('effect', 10), fault('kill', 11, 12), delivery(12, 0, 'cut off')],
      ...[...two, run('effect', 1_110, 2, 2), ...settled(1_111, 2), delivery(1_120)],
    ],
  ],
  [
    'a frozen process that resumes beside its successor and is refused',
    [
      ...[...one, frozen, ...two, run('effect', 1_510), ...settled(1_511, 1, 'complete', false)],
      ...[run('effect', 1_600, 2, 2), ...settled(1_601, 2), delivery(1_700)],
    ],
  ],
  [
    'a claim whose reply reached a frozen process after another one had got the lease',
    [
      ...[{ ...claimed(0), until: 1_500 } as JournalEntry, frozen, claimed(1_050, 2, 2)],
      ...[run('begin', 1_055, 2, 2), run('effect', 1_600, 2, 2), ...settled(1_601, 2)],
      delivery(1_700),
    ],
  ],
  [
    'a stale process that repeats its claim after the lease of its successor ran out',
    [
      ...[...one, frozen, ...two, fault('kill', 1_200, 1_201, 2), claimed(2_300, 1, 3)],
      ...[renewed(2_299), renewed(2_400), run('failed', 2_410), ...settled(2_411, 1, 'release')],
      ...[claimed(2_500, 3, 4), run('begin', 2_505, 3, 4), run('effect', 2_510, 3, 4)],
      ...[...settled(2_511, 3), delivery(2_520)],
    ],
  ],
];

test.each(sound)('finds nothing in %s', (_name, entries) => {
  expect(violations(entries)).toEqual([]);
});

test('counts what happened, and what explains duplicate effects', () => {
  const { counts } = checkHistory(sound[4]![1], { queued: false });
  expect(counts).toMatchObject({ events: 1, attempts: 2, runs: 2, effects: 2, 'process kills': 1 });
  expect(counts).toMatchObject({ 'duplicate effects explained': 1, '  of them by: kill': 1 });
});

test.each<[string, JournalEntry[], string]>([
  [
    'mark before run: the process dies, the retry is a duplicate',
    [claimed(0), run('begin', 5), fault('kill', 8, 9), delivery(300, 200, 'duplicate')],
    `${key} was acknowledged (duplicate) and has no effect`,
  ],
  [
    'an acknowledgement that comes before the effect',
    [claimed(0), run('begin', 5), delivery(8), run('effect', 10), ...settled(12)],
    `${key} was acknowledged (handled) before its effect`,
  ],
  [
    'an event that was never acknowledged',
    [delivery(20, 503, 'x')],
    `${key} was never acknowledged (x)`,
  ],
  [
    'no fencing: the stale process commits',
    [...one, frozen, ...two, run('effect', 1_510), ...settled(1_511), delivery(1_520)],
    `${key}: a lease was settled although attempt 2 had taken over`,
  ],
  [
    'no fencing: the stale process renews',
    [...one, frozen, ...two, renewed(1_501), run('effect', 1_600, 2, 2), delivery(1_610)],
    `${key}: a lease was renewed although attempt 2 had taken over`,
  ],
  [
    'no fencing: the stale process renews, and later repeats its claim',
    [...one, frozen, ...two, renewed(1_501), claimed(2_300, 1, 3), run('effect', 2_310)],
    `${key}: a lease was renewed although attempt 2 had taken over`,
  ],
  [
    'a repeated claim that gets a lease while another one is live',
    [...one, frozen, ...two, claimed(1_600, 1, 3), run('effect', 2_310), delivery(2_320)],
    `${key}: attempts 2 and 3 had live leases at once`,
  ],
  [
    'no fencing: the stale process releases, and a third one gets the lease of the second',
    [
      ...[...one, frozen, ...two, run('failed', 1_510), ...settled(1_511, 1, 'release')],
      ...[claimed(1_600, 3, 3), run('effect', 1_700, 2, 2), delivery(1_710)],
    ],
    `${key}: attempts 2 and 3 had live leases at once`,
  ],
  [
    'a lease granted while another one is live',
    [claimed(0), claimed(500, 2, 2), run('begin', 501), run('effect', 502), delivery(510)],
    `${key}: attempts 1 and 2 had live leases at once`,
  ],
  [
    'an event handed out after it was done',
    [...fine, claimed(2_000, 2, 2)],
    `${key}: attempt 2 was handed out after the event was done`,
  ],
  [
    'an attempt number that does not increase',
    [...one, claimed(1_100, 2, 1), run('effect', 1_110), delivery(1_120)],
    `${key}: attempt 1 was handed out after attempt 1`,
  ],
  [
    'two effects that no fault explains',
    [...fine, run('begin', 2_000, 2, 2), run('effect', 2_001, 2, 2)],
    `${key}: attempts 1 and 2 both had their effect, and no fault explains it`,
  ],
  [
    'two effects, and a fault of another process',
    [...fine, fault('kill', 100, 101, 7), run('begin', 2_000, 2, 2), run('effect', 2_001, 2, 2)],
    `${key}: attempts 1 and 2 both had their effect, and no fault explains it`,
  ],
  [
    'two concurrent runs that no fault explains',
    [...one, run('begin', 8, 2, 2), run('effect', 9, 2, 2), run('failed', 10), delivery(20)],
    `${key}: attempts 1 and 2 ran concurrently, and no fault explains it`,
  ],
  [
    'two runs under one attempt number',
    [...fine, fault('kill', 15, 16), run('begin', 2_000, 2), run('effect', 2_001, 2)],
    `${key}: two runs have attempt 1`,
  ],
])('finds %s', (_name, entries, violation) => {
  expect(violations(entries)).toContain(violation);
});

// A claim whose answer is late leaves less of its lease, and the fault has passed when the handler starts.
const lateAnswer = [
  { ...claimed(0), until: 950 } as JournalEntry,
  run('begin', 955),
  claimed(1_520, 2, 2),
  run('begin', 1_525, 2, 2),
  run('effect', 1_600, 2, 2),
  ...[...settled(1_601, 2), run('effect', 1_610), ...settled(1_611, 1, 'complete', false)],
  delivery(1_700),
];
const store = (at: number, until: number): JournalEntry => ({
  ...{ kind: 'fault', fault: 'store', pid: 1, at, until },
});

test('a fault explains a lost lease from when the claim was sent', () => {
  expect(violations([...lateAnswer, store(0, 950)])).toEqual([]);
  expect(violations(lateAnswer)).toContain(
    `${key}: attempts 1 and 2 both had their effect, and no fault explains it`,
  );
  expect(violations([...lateAnswer, store(-400, -1)])).not.toEqual([]);
});

test('a process that ends by itself is a violation, with what it wrote to stderr', () => {
  const exit = { kind: 'exit', at: 30, pid: 7, program: 'worker', end: 'code 1' } as const;
  expect(violations([...fine, { ...exit, stderr: 'Error: a bug' }])).toEqual([
    'the worker 7 ended by itself (code 1): Error: a bug',
  ]);
});

test('a timeline has the entries of the event, and the faults that affected it', () => {
  const other = { ...run('begin', 6), key: 'call-2:call:completed' } as JournalEntry;
  const faults = [fault('kill', 8, 9), fault('kill', 8, 9, 7), fault('server', 15, 18)];
  const later = (entry: JournalEntry): JournalEntry => ({
    ...{ ...entry, at: entry.at + 1_000 },
    ...('until' in entry && { until: entry.until + 1_000 }),
  });
  const journal = [...fine, other, ...faults].map(later);
  const lines = timelineOf(`${key} was acknowledged and has no effect`, journal);
  expect(lines.map((line) => line.split('  ')[1])).toEqual([
    ...['delivery', 'claimed', 'begin', 'fault', 'effect', 'settling', 'settled', 'fault'],
  ]);
  expect(lines.join('\n')).toContain('fault kill  pid 1');
  expect(timelineOf('the worker 7 ended by itself', journal)).toEqual([]);
});

test('a store call without an answer is journaled before its process may be killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  try {
    const path = join(folder, 'journal');
    const hanging = { ...memoryStore(), extend: () => new Promise<boolean>(() => undefined) };
    void journaledStore(hanging, new Journal(path)).extend(key, 'first', 1_000);
    await delay(NOTICED_MS + 50);
    expect(readJournal(path)).toMatchObject([{ kind: 'fault', fault: 'store', pid: process.pid }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Ignores tokens: every call applies to the lease of whoever holds it now. */
function withoutFencing(store: Store): Store {
  let holder = '';
  return {
    async admit(claim) {
      const admission = await store.admit(claim);
      if (admission.status === 'admitted') holder = claim.token;
      return admission;
    },
    complete: (of, _token, mark) => store.complete(of, holder, mark),
    release: (of) => store.release(of, holder),
    extend: (of, _token, leaseMs) => store.extend(of, holder, leaseMs),
  };
}

test.each([
  ['a store', memoryStore(), []],
  [
    'a store without fencing',
    withoutFencing(memoryStore()),
    [`${key}: a lease was settled although attempt 2 had taken over`],
  ],
])('reads in the journal how %s treats who lost its lease', async (_name, store, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  try {
    const path = join(folder, 'journal');
    const journaled = journaledStore(store, new Journal(path));
    const claim = (token: string, leaseMs: number) =>
      journaled.admit({ webhookId: token, replayUntil: Infinity, key, token, leaseMs });
    await claim('first', 20);
    await delay(30);
    await claim('second', 60_000);
    await journaled.complete(key, 'first');
    expect(violations(readJournal(path))).toEqual(expected);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a claim that is repeated after completeIn has settled what its own transaction did', () => {
  const learned = {
    how: 'complete',
    at: 1_200,
    until: 1_201,
    held: true,
    isLearned: true,
  } as const;
  const first = { kind: 'settled', pid: 1, key, token: 'token 1', ...learned } as const;
  const history = [
    ...[...one, ...two, fault('freeze', 20, 1_150), run('failed', 1_190)],
    ...[...settled(1_110, 2), run('effect', 1_109, 2, 2), delivery(1_210, 200, 'duplicate'), first],
  ];
  // Attempt 2 has done the event, so the claim of attempt 1 is a duplicate.
  expect(violations(history)).toEqual([]);
  // The transaction of attempt 1 was committed as well.
  expect(violations([...history, run('effect', 1_195)])).toContain(
    `${key}: a lease was settled although attempt 2 had taken over`,
  );
});

test('a dead job that was retried by hand needs its effect', () => {
  const dead = [claimed(0), run('begin', 5), run('failed', 10), run('dead', 11), ...settled(12)];
  const retried: JournalEntry = { kind: 'retried', at: 20, key };
  const again = [delivery(15), retried, run('begin', 30, 1, 2)];
  expect(violations([...dead, ...again, run('effect', 35, 1, 2)], true)).toEqual([]);
  expect(violations([...dead, ...again, run('failed', 35, 1, 2)], true)).toEqual([
    `${key} was retried by hand and has no effect`,
  ]);
});

test('with a queue, accepts an effect after the acknowledgement, but not a missing one', () => {
  const queued = delivery(8, 202, 'queued');
  expect(violations([queued, run('begin', 9), run('effect', 10)], true)).toEqual([]);
  expect(violations([queued, run('begin', 9)], true)).toEqual([
    `${key} was acknowledged (queued) and has no effect`,
  ]);
});

test('finds two effects in the database, of events that use completeIn', () => {
  const seed = 'a seed';
  const keys = Array.from({ length: 20 }, (_, number) => `call-${String(number)}:call:completed`);
  const effectsOf = (attempts: number[]) =>
    keys.flatMap((one) => attempts.map((attempt) => ({ key: one, attempt, pid: 1, at: 10 })));
  const runs = [run('begin', 1), run('failed', 2), run('begin', 3, 1, 2), run('failed', 11, 1, 2)];
  const journal = keys.flatMap((one) =>
    runs.map((entry) => ({ ...entry, key: one }) as JournalEntry),
  );
  const twice = checkHistory(journal, { queued: false, effects: effectsOf([1, 2]), seed });
  const withCompleteIn = keys.filter((one) => usesCompleteIn(seed, one));
  expect(
    twice.violations.filter((text) => text.includes('was committed in attempts 1, 2')),
  ).toEqual(withCompleteIn.map((one) => `${one}: its effect was committed in attempts 1, 2`));
  expect(twice.counts).toMatchObject({
    '  duplicates of these': withCompleteIn.length,
    '  duplicates of those': keys.length - withCompleteIn.length,
  });
  expect(withCompleteIn.length).toBeGreaterThan(0);
  expect(withCompleteIn.length).toBeLessThan(keys.length);
  const once = checkHistory(journal, { queued: false, effects: effectsOf([2]), seed });
  expect(once.violations).toEqual([]);
});
