import { describe, expect, test } from '@jest/globals';
import type { OutcomeCode } from '@call-webhooks/core';
import { counterName } from '@call-webhooks/core/stores';
import { closing } from './support/dead-letters.ts';
import { receiver as otherServer } from './support/receiver.ts';
import {
  AVAILABLE,
  COMPLETED,
  IN_LETTERS,
  MINUTE,
  service,
  warning,
} from './support/reconciled-service.ts';
import { run } from './support/run.ts';

// Scripts read these records, and people these lines: each has all of its fields, and no others.

/** As the command shows a time. */
const shownTime = (time: Date) => `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;

const RESULT = { ignored: 0, skipped: 0 };
const EMPTY = { ...RESULT, seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0, failed: 0 };
const NO_STORE = 'no store is given. Pass --store, and --prefix if the receiver has one.';
const NO_REASON =
  'The reason is unknown. The outcome log does not go back that far, or it does not count this tenant or event separately.';

describe('what reconcile prints', () => {
  test('of a dry run: what was missed, why, and what is in the dead letters', async () => {
    const { known, dead, missed, bad, window, at, reconcile } = await service();
    const dryRun = [...window, ...at, '--dry-run'];
    const people = await reconcile(...dryRun);
    expect([people.code, people.stderr]).toEqual([1, IN_LETTERS]);
    expect(people.stdout.split('\n')).toEqual([
      ...[`${COMPLETED}  ${bad}`, `${COMPLETED}  ${missed}`, '', `2 events: ${NO_REASON}`],
      ...['4 calls: 2 events missed, 1 known, 0 failed, 1 in the dead letters', ''],
    ]);
    const scripts = await reconcile(...dryRun, '--recordings', '--json');
    expect([scripts.code, scripts.stderr]).toEqual([1, '']);
    expect(scripts.records()).toEqual([
      { type: 'event', eventName: COMPLETED, callId: bad, missed: true },
      { type: 'event', eventName: COMPLETED, callId: missed, missed: true },
      { type: 'event', eventName: AVAILABLE, callId: missed, missed: true },
      { type: 'event', eventName: COMPLETED, callId: dead, state: 'dead-lettered', missed: false },
      { type: 'event', eventName: COMPLETED, callId: known, state: 'handled', missed: false },
      {
        ...{ type: 'reason', kind: 'unknown', missed: 3, outcomes: [], text: NO_REASON },
        ...{ from: null, until: expect.any(Number), failedBefore: 0, wasRunning: null },
      },
      {
        ...{ type: 'result', dryRun: true, ...RESULT, seen: 4, missed: 3, handled: 0 },
        ...{ known: 1, inDeadLetters: 1, failed: 0 },
      },
    ]);
  });

  test('of a dead letter that was removed: the store knows its event, and redrives nothing', async () => {
    for (const tenant of [undefined, 'acme']) {
      const made = await service(tenant);
      const of = tenant === undefined ? [] : ['--tenant', tenant];
      const dryRun = [...made.window, ...made.at, '--dry-run', ...of];
      const [letter] = (await made.deadLetters.list()).letters;
      await made.deadLetters.remove(letter!.id);
      const people = await made.reconcile(...dryRun);
      expect(people.stderr).toContain(
        '1 known event became a dead letter that does not wait in this store: it was removed or erased, or the receiver keeps its dead letters in another store.\n',
      );
      expect(people.stderr).not.toContain('redrive');
      expect(people.stdout).toContain('4 calls: 2 events missed, 2 known, 0 failed\n');
      const scripts = await made.reconcile(...dryRun, '--json');
      expect(scripts.records().at(-1)).toEqual({
        ...{ type: 'result', dryRun: true, ...RESULT, seen: 4, missed: 2, handled: 0 },
        ...{ known: 2, inDeadLetters: 0, failed: 0, lettersGone: 1 },
      });
    }
  });

  test('of each event that it sends, and of those that fail', async () => {
    const { known, dead, missed, bad, window, to, failing, reconcile } = await service();
    const scripts = await reconcile(...window, ...to, '--json');
    expect(scripts.code).toBe(1);
    expect(JSON.parse(scripts.stderr)).toEqual({
      warning: warning(NO_STORE).slice('warning: '.length, -1),
    });
    const event = { type: 'event', eventName: COMPLETED };
    expect(scripts.records()).toEqual([
      { ...event, callId: bad, outcome: 'handler-failed', missed: true },
      { ...event, callId: missed, outcome: 'handled', missed: true },
      { ...event, callId: dead, outcome: 'in-dead-letters', missed: false },
      { ...event, callId: known, outcome: 'duplicate', missed: false },
      {
        ...{ type: 'result', dryRun: false, ...RESULT, seen: 4, missed: 2, handled: 1 },
        ...{ known: 1, inDeadLetters: 1, failed: 1 },
      },
    ]);
    const again = await reconcile(...window, ...to);
    expect([again.code, again.stdout, again.stderr]).toEqual([
      1,
      '4 calls: 1 event missed, 0 handled, 2 known, 1 failed, 1 in the dead letters\n',
      `${bad}  ${COMPLETED}  failed: handler-failed\n${IN_LETTERS}${warning(NO_STORE)}`,
    ]);
    failing.clear();
    const recordings = await reconcile(...window, ...to, '--recordings');
    expect([recordings.code, recordings.stdout, recordings.stderr]).toEqual([
      0,
      '4 calls: 1 event missed, 1 handled, 2 known, 0 failed, 1 in the dead letters, 1 without a handler\n',
      `${IN_LETTERS}${warning(NO_STORE)}`,
    ]);
  });

  test('if there were no calls: from when to when, and that the newest are left out by default', async () => {
    const { now, to, at, reconcile, since } = await service();
    const until = new Date(now - 120 * MINUTE);
    const window = ['--since', since.toISOString(), '--until', until.toISOString()];
    const none = `No call began from ${shownTime(since)} to ${shownTime(until)}.\n`;
    const sent = await reconcile(...window, ...to);
    expect([sent.code, sent.stdout, sent.stderr]).toEqual([
      ...[0, '0 calls: 0 events missed, 0 handled, 0 known, 0 failed\n'],
      warning(NO_STORE) + none,
    ]);
    const looked = await reconcile(...window, ...at, '--dry-run');
    expect([looked.code, looked.stdout, looked.stderr]).toEqual([
      ...[0, '0 calls: 0 events missed, 0 known, 0 failed\n', none],
    ]);
    const scripts = await reconcile(...window, ...at, '--dry-run', '--json');
    expect(scripts.records()).toEqual([{ type: 'result', dryRun: true, ...EMPTY }]);
    const newest = await reconcile('--since', '20m', ...to);
    expect(newest.stderr.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^No call began from \S+ \S+Z to \S+ \S+Z\.$/),
      'Calls that began in the last 10 minutes are left out. To include them: --until 0s',
      '',
    ]);
  });

  test('if it cannot be done: what is missing, and nothing is sent', async () => {
    const { window, to, at, reconcile, handled } = await service();
    const told = (message: string, fix: string) => ({
      ...{ code: 2, stdout: '', stderr: `error: ${message}\nfix:   ${fix}\n` },
    });
    expect(await reconcile(...window)).toMatchObject(
      told('No receiver is given.', 'Pass --to URL, or --dry-run to send nothing.'),
    );
    expect(await reconcile(...window, '--dry-run')).toMatchObject(
      told('No store is given.', 'Pass --store URL, or set CALL_WEBHOOKS_STORE.'),
    );
    expect(await reconcile(...window, ...to, '--tenant', 'acme')).toMatchObject(
      told(
        '--tenant is only for --dry-run, or to record the run in the store.',
        'Remove it, or pass --store URL: the URL of --to and the secret decide which tenant the calls belong to.',
      ),
    );
    expect(await reconcile('--since', '30h', ...to)).toMatchObject(
      told(
        "--since is 30 h ago, but the receiver's store is assumed to remember handled events for 24 h. Older ones would look missed and run again.",
        'Begin later. If the store remembered longer when these calls were handled, pass its rememberFor: --remember-for 30h.',
      ),
    );
    const wrong = ['--field-name', 'createdAt=no', '--field-name', 'dialedAt=none'];
    const dated = await reconcile(...window, ...at, '--dry-run', ...wrong);
    expect([dated.code, dated.stdout]).toEqual([2, '']);
    expect(dated.stderr.split('\n').slice(1)).toEqual([
      'fix:   Pass --field-name createdAt=FIELD. To see the fields: npx call-webhooks calls',
      '',
    ]);
    expect(handled).toEqual([]);
  });

  test('of a tenant: why its events were missed, whatever arrived of another one', async () => {
    const { now, window, at, store, missed, reconcile } = await service('acme');
    const [first, last] = [now - 180 * MINUTE, now];
    const ago = (Math.floor(now / MINUTE) - 150) * MINUTE + 30_000;
    const counted = (periodMs: number, name: string) =>
      Object.fromEntries(
        Array.from({ length: (last - first) / periodMs + 1 }, (_, nth) => [
          Math.floor(first / periodMs) + nth,
          { [name]: 1 },
        ]),
      );
    // Before the silence, the event k1 failed and was handled by a retry, and four failures were never settled.
    const delivery = (outcome: OutcomeCode, key: string, minutes: number, tenant = 'acme') => ({
      ...{ at: ago - minutes * MINUTE, process: 'p', durationMs: 1, source: 'webhook' as const },
      ...{ outcome, key, webhookId: `w-${key}-${String(minutes)}`, attempt: 1, tenant },
      eventName: COMPLETED,
    });
    const failures = [
      delivery('handler-failed', 'k1', 5),
      ...[4, 3].map((minutes) => delivery('handler-failed', 'k0', minutes)),
      ...[2, 0].map((minutes) => delivery('handler-failed', 'k2', minutes)),
    ];
    const minutes = counted(MINUTE, counterName('outcome', 'webhook', 'handled', COMPLETED));
    for (const { at } of failures)
      Object.assign(minutes[Math.floor(at / MINUTE)]!, {
        [counterName('outcome', 'webhook', 'handler-failed', COMPLETED)]: 1,
      });
    await store.log?.append({
      ...{ id: 'batch', failures },
      rows: [
        ...[delivery('handled', 'k0', 6), delivery('handled', 'k1', 4.9)],
        ...Array.from({ length: 16 }, (_, nth) => delivery('handled', 'g', -10 * nth, 'globex')),
      ],
      counts: {
        minutes,
        arrivals: counted(10 * MINUTE, counterName(COMPLETED, 'globex')),
      },
      marks: {
        [counterName('ack', 'acme', COMPLETED, 's')]: ago,
        [counterName('ack', 'globex', COMPLETED, 's')]: now,
      },
      process: { id: 'p', host: 'h', pid: 1, startedAt: first, at: now, inFlight: 0 },
    });
    const dryRun = [...window, ...at, '--dry-run'];
    const refused = await reconcile(...dryRun);
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      ...[2, ''],
      'error: This receiver has tenants: acme, globex.\nfix:   Pass --tenant NAME, and run the command once for each tenant.\n',
    ]);
    const reasonOf = async (tenant: string) => {
      const { stdout } = await reconcile(...dryRun, '--tenant', tenant);
      const { records } = await reconcile(...dryRun, '--tenant', tenant, '--json');
      const [reason, result] = records().slice(-2);
      expect(stdout).toContain(`${String(reason?.['missed'])} events: ${String(reason?.['text'])}`);
      return [reason, result];
    };
    const paused =
      'Its rule may have been paused, changed or removed, or these deliveries were lost in transit. Before that, 4 deliveries failed and were not acknowledged later. The service pauses a rule when the last retry of an event fails. Check the rule in the service, under Rules.';
    const silence = { type: 'reason', kind: 'event-silence', eventName: COMPLETED, outcomes: [] };
    expect(await reasonOf('acme')).toEqual([
      {
        ...{ ...silence, missed: 2, from: ago, until: null, failedBefore: 4, wasRunning: null },
        text: `Other events arrived, but no ${COMPLETED} of acme from ${shownTime(new Date(ago))} to now. ${paused}`,
      },
      expect.objectContaining({ seen: 4, missed: 2, known: 1, inDeadLetters: 1 }),
    ]);
    expect(await reasonOf('globex')).toEqual([
      expect.objectContaining({
        ...{ kind: 'single', eventName: COMPLETED, missed: 4 },
        text: `Other ${COMPLETED} of globex events arrived around the same time, so their rule was not paused. Individual deliveries were lost in transit. Check the proxy and the conditions of the rule.`,
      }),
      expect.objectContaining({ seen: 4, missed: 4, known: 0, inDeadLetters: 0 }),
    ]);
    // The service lists the newest calls first. The newest misses its end, and an older one its recording.
    const [key, token] = [`tenant:acme:${missed}:${COMPLETED}`, 'token of its end'];
    await store.admit({ key, token, webhookId: token, replayUntil: now, leaseMs: MINUTE });
    await store.complete(key, token);
    const { records } = await reconcile(...dryRun, '--tenant', 'acme', '--recordings', '--json');
    const reasons = records().filter(({ type }) => type === 'reason');
    expect(reasons.map(({ eventName }) => eventName)).toEqual([AVAILABLE, COMPLETED]);
  });

  test('if the service fails in between: what was done, and how to go on; of a dry run only the error', async () => {
    const { now, since, until, window, to, at, known, missed, handled, env } = await service();
    const record = (callId: string, ago: number) => {
      const time = new Date(now - ago * MINUTE).toISOString();
      return { _id: callId, createdAt: now - ago * MINUTE, dialedAt: time, endedAt: time };
    };
    let isAllowed = true;
    const pages = await otherServer(({ url }) => {
      const isFirst = isAllowed && !url.includes('next=');
      const results = [record(missed, 60), record(known, 70)];
      const body = isFirst ? { results, hasNext: true, next: '2' } : { message: 'no more' };
      return { status: isFirst ? 200 : 403, body: JSON.stringify(body) };
    });
    closing.push(() => pages.close());
    const cut = (...argv: string[]) =>
      run(['reconcile', '--concurrency', '1', ...window, ...argv], {
        env: { ...env, CALL_WEBHOOKS_BASE_URL: `http://127.0.0.1:${String(pages.port)}` },
        columns: 300,
      });
    const message = 'GET /v1/calls responded with status 403: no more';
    const fix = 'This API token is not allowed to do this. Use another token.';
    const error = `error: ${message}\nfix:   ${fix}\n`;
    const looked = await cut(...at, '--dry-run');
    expect([looked.code, looked.stdout, looked.stderr]).toEqual([
      ...[2, `${COMPLETED}  ${missed}\n`, error],
    ]);
    expect(handled).toEqual([]);
    const sent = await cut(...to, ...at);
    expect([sent.code, sent.stdout, sent.stderr]).toEqual([
      ...[2, '2 calls: 1 event missed, 1 handled, 1 known, 0 failed\n'],
      [
        'The run did not finish. The receiver remembers the events that it has handled.',
        'To continue, run the command again with these times:',
        `  --since ${since.toISOString()} --until ${until.toISOString()}`,
        error,
      ].join('\n'),
    ]);
    const scripts = await cut(...to, '--json');
    expect([scripts.code, scripts.records().at(-1), JSON.parse(scripts.stderr)]).toEqual([
      2,
      { type: 'result', dryRun: false, ...EMPTY, seen: 2, known: 2 },
      { error: { message, fix, exitCode: 2 } },
    ]);
    isAllowed = false;
    const nothing = await cut(...to, ...at);
    expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([2, '', error]);
  });
});
