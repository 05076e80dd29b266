import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { faultyReceiver, type FaultyReceiver } from './support/faulty-receiver.ts';
import { receiver as recordingReceiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

// Scripts read these records, and people these lines: each has all of its fields, and no others.

const REPEATS = 'reject repeats.';
const SPEC = `To reject replays, remember each accepted webhook id for at least 5 minutes and ${REPEATS}`;
const SECTION = 'Verification by the receiver, 4';
const FIX =
  'Remember each accepted webhook id for as long as its signature verifies, ten minutes, and reject repeats, for example with 409.';
const OTHER_FIX =
  'Remember each accepted webhook id for ten minutes. It is not enough to remember only the latest ones.';
const UNSIGNED = 'it needs the signing secret';
const LATER = 'it is about the passing of time';

let folder: string;
let receiver: FaultyReceiver;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'exact-check-'));
  receiver = await faultyReceiver([SECRET], ['replay']);
});
afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true });
});

const check = (...flags: string[]) =>
  run(['check', '--to', receiver.url, ...flags], {
    env: { CALL_WEBHOOK_SECRET: SECRET },
    columns: 300,
  });

const SHOWN =
  'For some minutes, status counts the requests that the receiver rejected in this check, as it does any others.\n';

describe('what check prints of a receiver that accepts replays', () => {
  test('is a line for each check, and all about what failed', async () => {
    const { code, stdout, stderr } = await check();
    expect({ code, stderr }).toEqual({ code: 1, stderr: SHOWN });
    expect(stdout.split('\n')).toEqual([
      'ok       signature/valid         200',
      'ok       signature/other-secret  401',
      'ok       signature/other-body    401',
      'ok       headers/none            401',
      'ok       clock/6-minutes-ago     401',
      'ok       clock/6-minutes-ahead   401',
      'FAILED   replays/at-once         200 for delivery 2',
      '           The same request again, at once: 200 for delivery 2.',
      `           Spec, ${SECTION}: ${SPEC}`,
      `           Fix: ${FIX}`,
      ...['', '6 passed, 1 failed, 0 skipped', ''],
    ]);
  });

  test('without a secret: what can be checked, and what is missing for the rest', async () => {
    const { code, stdout, stderr } = await run(['check', '--to', receiver.url]);
    expect(stdout.split('\n')).toEqual([
      `skipped  signature/valid         ${UNSIGNED}`,
      'ok       signature/other-secret  401',
      `skipped  signature/other-body    ${UNSIGNED}`,
      'ok       headers/none            401',
      `skipped  clock/6-minutes-ago     ${UNSIGNED}`,
      `skipped  clock/6-minutes-ahead   ${UNSIGNED}`,
      `skipped  replays/at-once         ${UNSIGNED}`,
      ...['', `5 skipped: ${UNSIGNED}`, '2 passed, 0 failed, 5 skipped', ''],
    ]);
    expect([code, stderr]).toEqual([
      0,
      `Most checks need a secret: set CALL_WEBHOOK_SECRET to the secret of the receiver.\n${SHOWN}`,
    ]);
  });

  test('with --deep is by group, and the fix of several failures once; in JUnit XML it is all of it', async () => {
    const junit = join(folder, 'junit.xml');
    const { code, stdout } = await check('--deep', '--only', 'replays', '--junit', junit);
    const failed = (id: string, title: string, saw: string, section = SECTION) => [
      ...[`         replays/${id}`, `           ${title}: ${saw}.`],
      `           Spec, ${section}: ${SPEC}`,
    ];
    const titles = {
      again: 'The same request again, at once',
      three: 'The same request three times',
      between: 'The same request again, after a delivery of another call',
      others: 'A replay after 50 other deliveries',
    };
    const own = 'Authentication, verification 4';
    expect([code, stdout.split('\n')]).toEqual([
      1,
      [
        'ok       signature     1 passed, 0 failed, 0 skipped',
        'FAILED   replays       2 passed, 4 failed, 2 skipped',
        ...failed('at-once', titles.again, '200 for delivery 2'),
        ...failed('three-times', titles.three, '200 for delivery 2'),
        ...failed('another-in-between', titles.between, '200 for delivery 3'),
        `           Fix: ${FIX}`,
        ...failed('after-others', titles.others, '200', own),
        `           Fix: ${OTHER_FIX}`,
        ...['', `2 skipped: ${LATER}`, '3 passed, 4 failed, 2 skipped', ''],
      ],
    ]);
    const xml = readFileSync(junit, 'utf8').replaceAll(/time="\d+\.\d{3}"/g, 'time');
    const counts = (tests: number, failures: number, skipped: number) =>
      `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}" time`;
    const one = (id: string, title: string, inner = '') =>
      `    <testcase name="${title}" classname="replays.${id}" time>${inner}</testcase>`;
    const failure = (id: string, saw: string, text: string) =>
      `<failure message="${saw}" type="replays/${id}">${text}</failure>`;
    const skipped = `<skipped message="${LATER}"/>`;
    const text = `${SECTION}: ${SPEC}\n${FIX}`;
    expect(xml.split(/\n(?= *<)/)).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<testsuites name="npx call-webhooks check --to ${receiver.url}" ${counts(9, 4, 2)}>`,
      `  <testsuite name="signature" ${counts(1, 0, 0)}>`,
      one('valid', 'A valid delivery').replace('replays', 'signature'),
      '  </testsuite>',
      `  <testsuite name="replays" ${counts(8, 4, 2)}>`,
      one('at-once', titles.again, failure('at-once', '200 for delivery 2', text)),
      one('three-times', titles.three, failure('three-times', '200 for delivery 2', text)),
      one(
        'after-299-seconds',
        'The same request after 299 s. Its timestamp is still within 5 minutes of the clock',
        skipped,
      ),
      one(
        'signed-ahead',
        'A request that was signed 120 s ahead of the clock, and again after 299 s',
        skipped,
      ),
      one(
        'another-in-between',
        titles.between,
        failure('another-in-between', '200 for delivery 3', text),
      ),
      one(
        'forged-before',
        'A forged request with a webhook id that the service uses afterwards. The id was not accepted, so the delivery is not a replay',
      ),
      one(
        'after-others',
        titles.others,
        failure('after-others', '200', `${own}: ${SPEC}\n${OTHER_FIX}`),
      ),
      one('race', 'Five copies of one request at once'),
      ...['  </testsuite>', '</testsuites>\n'],
    ]);
  });

  test('says how long it waited for an effect: as long as it was told, not as for a response', async () => {
    // It has an effect for each event but those whose handler is slow.
    const effects: { key: string; count: number }[] = [];
    const silent = await recordingReceiver(({ url, body }) => {
      if (url === '/effects') return { status: 200, body: JSON.stringify(effects) };
      const { callId, eventName } = JSON.parse(body.toString()) as Record<string, string>;
      if (!callId?.includes('slow')) effects.push({ key: `${callId}:${eventName}`, count: 1 });
      return { status: 200 };
    });
    const { origin } = new URL(silent.url);
    const sawOf = async (target: string, only: string) => {
      const limits = ['--effects-within', '60ms', '--timeout', '700ms', '--json'];
      const flags = ['--to', target, '--effects', `${origin}/effects`, '--only', only, ...limits];
      const { records } = await run(['check', ...flags], { env: { CALL_WEBHOOK_SECRET: SECRET } });
      return records().find((one) => one['check'] === only)?.['saw'];
    };
    expect(await sawOf(silent.url, 'duplicates/race')).toBe(
      'no effect within 60 ms (--effects-within)',
    );
    await silent.close();
  });

  test('as records: each check with its reason and its fix', async () => {
    const { code, records } = await check('--json');
    const found = records();
    expect([code, found.length, found.at(-1)]).toEqual([
      ...[1, 8, { type: 'result', passed: 6, failed: 1, skipped: 0 }],
    ]);
    expect(found[6]).toEqual({
      ...{ type: 'check', check: 'replays/at-once', title: 'The same request again, at once' },
      ...{ result: 'fail', saw: '200 for delivery 2', ms: expect.any(Number) },
      ...{ why: [{ section: SECTION, text: SPEC }], fix: FIX },
    });
  });
});
