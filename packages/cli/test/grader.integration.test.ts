import { afterEach, describe, expect, test } from '@jest/globals';
import { GradedReceiver } from '../src/grader/receiver.ts';
import { faultyReceiver, type FaultyReceiver } from './support/faulty-receiver.ts';
import { gradesOf } from './support/grade-receiver.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

/** The faults that receivers have, and a check that each of them fails. */
const FAULTS: readonly (readonly [check: string, ...faults: string[]])[] = [
  ['signature/valid', 'authentic'],
  ['headers/none', 'unsigned'],
  ['headers/none', 'answers-404'],
  ['headers/no-webhook-id', 'no-webhook-id', 'forged'],
  ['headers/no-timestamp', 'no-timestamp', 'forged'],
  ['headers/no-signature', 'no-signature'],
  ['headers/lower-case', 'lower-case-headers'],
  ['headers/upper-case', 'upper-case-headers'],
  ['signature/other-secret', 'forged'],
  ['signature/other-secret', 'effect-of-refused'],
  ['signature/other-webhook-id', 'forged'],
  ['signature/other-timestamp', 'forged'],
  ['signature/other-body', 'forged'],
  ['signature/empty-key', 'empty-key'],
  ['signature/no-version', 'no-version'],
  ['signature/version-2', 'other-version'],
  ['signature/empty', 'empty-signature'],
  ['signature/first-half', 'truncated-signature'],
  ['signature/other-spelling', 'respelled-signature'],
  ['secrets/prefix-kept', 'key-as-text'],
  ['secrets/others', 'second-secret'],
  ['body-bytes/indented', 'reformatted-body'],
  ['body-bytes/utf-8', 'utf-8'],
  ['body-bytes/new-line-added', 'appended-byte'],
  ['body-bytes/invalid-utf-8', 'replaced-bytes'],
  ['clock/of-the-receiver', 'clock'],
  ['clock/a-day-ago', 'stale'],
  ['clock/a-day-ahead', 'future'],
  ['clock/6-minutes-ago', 'wide-window'],
  ['clock/6-minutes-ahead', 'wide-window'],
  ['clock/4-minutes-ago', 'narrow-window'],
  ['clock/4-minutes-ahead', 'narrow-window'],
  ['clock/words', 'timestamp-text'],
  ['clock/nan', 'timestamp-text'],
  ['clock/letters-after', 'timestamp-trailing-text'],
  ['clock/milliseconds', 'timestamp-milliseconds'],
  ['clock/negative', 'timestamp-negative'],
  ['replays/at-once', 'replay'],
  ['replays/after-others', 'replay-after-others'],
  ['replays/race', 'replay-race', 'race'],
  ['replays/forged-before', 'forged-first'],
  ['duplicates/completed-again', 'retry'],
  ['duplicates/completed-again', 'duplicate'],
  ['duplicates/three-attempts', 'later-retry'],
  ['duplicates/recording-again', 'duplicate-recording'],
  ['duplicates/other-bytes', 'duplicate-other-bytes'],
  ['duplicates/two-events', 'events-of-one-call'],
  ['duplicates/recording-first', 'out-of-order'],
  ['duplicates/race', 'race'],
  ['events/started', 'call-started'],
  ['signature/valid', 'call-completed'],
  ['events/recording', 'recording-available'],
  ['events/completed-with-unknown-fields', 'unknown-fields'],
  ['events/started-without-phone-number', 'optional-fields'],
  ['events/unknown-event', 'unknown-event'],
  ['events/odd-bodies', 'custom-payload'],
  ['events/odd-bodies', 'broken-json'],
  ['events/odd-bodies', 'not-an-object'],
  ['events/odd-bodies', 'wrong-types'],
  ['events/odd-bodies', 'not-utf-8'],
  ['failures/retry', 'retry-after-failure'],
  ['failures/while-running', 'acknowledged-while-running'],
  ['failures/lost-response', 'lost-response'],
  ['failures/lost-response', 'retry'],
  ['failures/deadline', 'deadline'],
  ['connections/slow-body', 'slow-body'],
  ['connections/cut-body', 'cut-body'],
];
/** So that a busy machine makes no difference. */
const PATIENT = { retryForMs: 60_000, effectsWithinMs: 60_000, acknowledgeWithinMs: 10_000 };
const IMPOSSIBLE = [
  'it is about other secrets',
  'it is about the passing of time',
  'it needs an exact clock',
];

// Side by side, as they mostly wait: the one that takes longest begins first.
test.concurrent('a receiver without faults fails nothing', async () => {
  const grades = await gradesOf([], undefined, PATIENT);
  expect(grades.filter(({ result }) => result === 'fail')).toEqual([]);
  const skipped = grades.filter(({ result }) => result === 'skipped').map(({ saw }) => saw);
  expect([...new Set(skipped)].sort()).toEqual(IMPOSSIBLE);
  expect(grades.length - skipped.length).toBeGreaterThan(100);
});

test.concurrent('no handler runs unless it is allowed', async () => {
  const grades = await gradesOf([], undefined, {
    ...PATIENT,
    ...{ runHandlers: false, effectsUrl: undefined },
  });
  expect(grades.filter(({ result }) => result === 'fail')).toEqual([]);
  const skipped = grades.filter(({ result }) => result === 'skipped').map(({ saw }) => saw);
  expect([...new Set(skipped)].sort()).toEqual([...IMPOSSIBLE, 'it needs --run-handlers'].sort());
  expect(grades.length - skipped.length).toBeGreaterThan(80);
});

test.concurrent('where every delivery is refused, refusals show nothing', async () => {
  const grades = await gradesOf(['authentic']);
  const passed = grades.filter(({ result }) => result === 'pass').map(({ check }) => check.id);
  expect(passed).toEqual(['signature/other-secret', 'headers/none']);
});

describe('a receiver with one fault fails the check for it', () => {
  test.concurrent.each(FAULTS)('%s: %s', async (id, ...faults) => {
    const grades = await gradesOf(faults, [id]);
    expect(grades.find(({ check }) => check.id === id)).toMatchObject({ result: 'fail' });
  });
});

const started: FaultyReceiver[] = [];
afterEach(() => Promise.all(started.splice(0).map((one) => one.close())));

async function check(fault: string, ...flags: string[]) {
  const receiver = await faultyReceiver([SECRET], [fault]);
  started.push(receiver);
  const only = ['--only', 'headers,events/started,events/completed-with-unknown-fields'];
  const argv = ['check', '--deep', '--to', receiver.url, ...only, ...flags];
  return run(argv, { env: { CALL_WEBHOOK_SECRET: SECRET } });
}

describe('a receiver that refuses what the interface does not show', () => {
  test.each([
    ['an event that it does not know', 'refuses-unknown', [], '--run-handlers'],
    ['guessed field names', 'requires-owner', ['--run-handlers'], '--field-name placedBy=owner'],
  ])('%s: one check fails, and names the flag', async (_what, fault, flags, missing) => {
    const { code, stdout } = await check(fault, ...flags);
    expect(stdout).toMatch(/FAILED +signature +0 passed, 1 failed/);
    expect(stdout.match(/FAILED/g)).toHaveLength(1);
    expect(stdout).toContain(missing.split(' ')[0]);
    expect(code).toBe(1);
    expect(await check(fault, ...flags, ...missing.split(' '))).toMatchObject({ code: 0 });
  });

  test('a wrong secret is still a fault', async () => {
    const { code, stdout } = await check('authentic');
    expect(stdout).toMatch(/FAILED +signature/);
    expect(code).toBe(1);
  });
});

test('effects of a queue may come late, and are counted late', async () => {
  const receiver = await faultyReceiver([SECRET], ['queue']);
  started.push(receiver);
  const graded = new GradedReceiver({
    ...{ url: receiver.url, secret: SECRET, runHandlers: true, timeoutMs: 1_000 },
    ...{ retryForMs: 0, effectsWithinMs: 1_000, acknowledgeWithinMs: 1_000 },
    effectsUrl: receiver.effectsUrl,
    signal: new AbortController().signal,
  });
  const event = graded.event();
  await graded.deliver(event);
  // It queues the event twice: the second time, 600 ms later.
  expect(await graded.effectsOf([`${event.callId}:${event.name}`])).toEqual([2]);
});
