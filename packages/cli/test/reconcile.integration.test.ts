import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { counterName } from '@call-webhooks/core/stores';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { closing, receiverProcess, setup } from './support/missed-calls.ts';
import { receiver as otherServer } from './support/receiver.ts';
import { run, start } from './support/run.ts';

test('sends the missed events to a receiver in another process, which runs each once', async () => {
  const { receiver, simulator, rule, after, env, file, reconcile } = await setup({
    ...{ handled: 5, missed: 25 },
  });
  expect(receiver.runs).toHaveLength(5);

  const nowhere = await run([...reconcile, '--dry-run'], { env });
  expect(nowhere).toMatchObject({ code: 2, stdout: '' });
  expect(nowhere.stderr).toContain('Pass --store URL');

  const store = ['--store', `sqlite:${file}`];
  const looked = await run([...reconcile, '--dry-run', ...store, '--json'], { env });
  expect(looked.records().at(-1)).toEqual({
    ...{ type: 'result', dryRun: true, seen: 30, missed: 25, handled: 0, known: 5, failed: 0 },
    ...{ inDeadLetters: 0, ignored: 0, skipped: 0 },
  });
  expect(looked.records()).toHaveLength(32);
  expect(looked.records().at(-2)).toMatchObject({ type: 'reason', kind: 'unknown', missed: 25 });
  const people = await run([...reconcile, '--dry-run', ...store], { env });
  expect(people.stdout.match(/^call:completed {2}/gm)).toHaveLength(25);
  expect(receiver.runs).toHaveLength(5);

  const first = await run([...reconcile, '--to', receiver.url], { env, terminal: true });
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain('30 calls: ');
  expect(first.stdout).toContain('25 events missed, 25 handled, 5 known, 0 failed\n'.slice(2));
  expect(first.stderr).toMatch(/\d+ calls/);
  expect(first.stderr).toContain('This run is not recorded, so status may still ask for it');
  const other = [...store, '--prefix', 'other_'];
  const elsewhere = await run([...reconcile, '--to', receiver.url, ...other], { env });
  expect(elsewhere.stderr).toMatch(/This run is not recorded, .*--prefix/);
  // A receiver writes its log a moment after its deliveries.
  const db = new Database(file);
  closing.push(() => db.close());
  const marks = async () => (await sqliteStore(db).log?.marks())?.marks ?? {};
  await waitFor(async () => Object.keys(await marks()).length > 0);
  const recorded = await run([...reconcile, '--to', receiver.url, ...store], { env });
  expect(recorded).toMatchObject({ code: 0, stderr: '' });
  expect(receiver.runs.slice(5).sort()).toEqual([...after].sort());

  const again = await run([...reconcile, '--to', receiver.url, '--json'], { env });
  expect(again.records().at(-1)).toEqual({
    ...{ type: 'result', dryRun: false, seen: 30, missed: 0, handled: 0, known: 30, failed: 0 },
    ...{ inDeadLetters: 0, ignored: 0, skipped: 0 },
  });

  // A late webhook is a duplicate.
  simulator.rules.resume(rule._id);
  for (const { _id } of simulator.events.list({ state: 'dropped' })) simulator.events.resend(_id);
  await simulator.clock.runUntilIdle();
  expect(receiver.runs).toHaveLength(30);
});

test.each([
  ['its rule was paused', [], 'event-silence', 'was probably paused, changed or removed'],
  ['they were lost', [0, 1], 'single', 'deliveries were lost in transit'],
])(
  'a dry run says why events were missed, by the log of the store: %s',
  async (_why, ownAt, kind, text) => {
    const { simulator, env, file, reconcile } = await setup({ missed: 5 });
    const db = new Database(file);
    closing.push(() => db.close());
    // What the log of a receiver has of the other events at that time, and of this one.
    const endedAt = simulator.clock.now() - 100_000;
    const minute = Math.floor(endedAt / 60_000);
    const arrived = (name: string) => counterName('outcome', 'webhook', 'handled', name);
    const started = Object.fromEntries(
      [-1, 0, 1, 2, 3].map((after) => [minute + after, { [arrived('call:started')]: 1 }]),
    );
    const period = Math.floor(minute / 10);
    const own = [-12, ...ownAt].map((after) => [period + after, { 'call:completed/': 1 }]);
    await sqliteStore(db).log?.append({
      ...{ id: 'batch', rows: [], failures: [], marks: {} },
      counts: { minutes: started, arrivals: Object.fromEntries(own) as never },
      process: {
        ...{ id: 'p', host: 'h', pid: 1, inFlight: 0 },
        ...{ startedAt: endedAt - 86_400_000, at: Date.now() },
      },
    });
    const looksUp = [...reconcile, '--dry-run', '--store', `sqlite:${file}`];
    const people = await run(looksUp, { env });
    expect(people.code).toBe(1);
    expect(people.stdout.replaceAll(/\s+/g, ' ')).toContain(text);
    const { stdout, records } = await run([...looksUp, '--json'], { env });
    expect(stdout).not.toBe('');
    expect(records().at(-2)).toMatchObject({
      ...{ type: 'reason', kind, missed: 5, eventName: 'call:completed' },
      text: expect.stringContaining(text) as unknown,
    });
  },
);

test('a service that is down is not taken for a store that is', async () => {
  const { env, file, reconcile } = await setup({ handled: 1 });
  const down = { ...env, CALL_WEBHOOKS_BASE_URL: 'http://127.0.0.1:1' };
  const looksUp = [...reconcile, '--dry-run', '--store', `sqlite:${file}`];
  const { code, stderr } = await run(looksUp, { env: down });
  expect(code).toBe(3);
  expect(stderr).toMatch(/^error: GET \/v1\/calls: /);
  expect(stderr).toContain('ask the provider of the service');
});

test('an event that fails is counted, named, and found again', async () => {
  const { receiver, after, env, reconcile } = await setup({ missed: 6 });
  const [bad = ''] = after;
  await receiver.breakFor([bad]);
  const failed = await run([...reconcile, '--to', receiver.url], { env });
  expect(failed.code).toBe(1);
  expect(failed.stdout).toBe('6 calls: 6 events missed, 5 handled, 0 known, 1 failed\n');
  expect(failed.stderr).toContain(`${bad}  call:completed  failed: handler-failed`);
  await receiver.breakFor([]);
  const then = await run([...reconcile, '--to', receiver.url, '--json'], { env });
  expect(then.code).toBe(0);
  expect(then.records().at(-1)).toMatchObject({ missed: 1, handled: 1, known: 5, failed: 0 });
  expect(then.records()).toContainEqual({
    ...{ type: 'event', eventName: 'call:completed', callId: bad },
    ...{ outcome: 'handled', missed: true },
  });
  expect([...receiver.runs].sort()).toEqual([...after].sort());
});

test('Ctrl-C loses nothing, and the times that it prints go on', async () => {
  const { receiver, after, env, reconcile } = await setup({ missed: 60 });
  const program = start([...reconcile, '--to', receiver.url], { env });
  await waitFor(() => receiver.runs.length >= 10);
  program.stop();
  expect(await program.code).toBe(130);
  const stopped = receiver.runs.length;
  expect(stopped).toBeLessThan(60);
  expect(program.stdout()).toMatch(new RegExp(`${String(stopped)} events missed, `));
  const [, times = ''] = /^ {2}(--since .*)$/m.exec(program.stderr()) ?? [];
  const again = ['reconcile', ...times.split(' '), '--to', receiver.url];
  const { code, stdout } = await run(again, { env });
  expect(code).toBe(0);
  expect(stdout).toContain(`${String(60 - stopped)} handled, ${String(stopped)} known`);
  expect([...receiver.runs].sort()).toEqual([...after].sort());
});

test('when the receiver dies in between, it stops, and runs the rest with the next one', async () => {
  const { receiver, after, env, reconcile, file } = await setup({ missed: 40 });
  const program = start([...reconcile, '--to', receiver.url], { env });
  await waitFor(() => receiver.runs.length >= 10);
  await receiver.stop();
  expect(await program.code).toBe(3);
  expect(program.stderr()).toContain('Nothing is listening');
  expect(program.stderr()).toContain('run the command again');
  const next = await receiverProcess(file);
  await new Promise((resolve) => setTimeout(resolve, 1_100)); // the leases of the dead process
  expect((await run([...reconcile, '--to', next.url], { env })).code).toBe(0);
  const all = [...receiver.runs, ...next.runs];
  expect([...new Set(all)].sort()).toEqual([...after].sort());
  // An effect is repeated only if the process died between it and its commit.
  expect(all.length).toBeLessThanOrEqual(after.length + 4);
});

test('refuses a window that is longer than the store remembers, with both numbers and the way out', async () => {
  const { receiver, env } = await setup({ missed: 1 });
  const to = ['--to', receiver.url];
  for (const extra of [[], ['--dry-run']]) {
    const refused = await run(['reconcile', '--since', '36h', ...to, ...extra], { env });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('36 h ago');
    expect(refused.stderr).toContain('24 h.');
    expect(refused.stderr).toContain('--remember-for 36h');
  }
  expect(receiver.runs).toEqual([]);
  const longer = ['reconcile', '--since', '36h', '--remember-for', '36h', ...to];
  expect(await run(longer, { env })).toMatchObject({ code: 0 });
  expect(receiver.runs).toHaveLength(1);
  const short = await run(['reconcile', '--since', '12h', '--remember-for', '6h', ...to], { env });
  expect(short.stderr).toContain('handled events for 6 h.');
});

test('sends nothing for what is newer than ten minutes, unless --until says so', async () => {
  const { receiver, simulator, env, reconcile } = await setup({ missed: 1 });
  await simulator.clock.advance(Date.now() - simulator.clock.now() - 300_000);
  simulator.calls.place({ durationSeconds: 20, recorded: false });
  await simulator.clock.advance('2m');
  const to = ['--to', receiver.url];
  expect((await run([...reconcile, ...to], { env })).stdout).toContain('1 handled, 0 known');
  const { stdout } = await run([...reconcile, ...to, '--until', '0s'], { env });
  expect(stdout).toContain('1 handled, 1 known');
  const none = await run(['reconcile', '--since', '9h', ...to], { env });
  expect(none.stderr).toContain('No call began from ');
  expect(none.stderr).toContain('--until 0s');
});

test('stops at once if something else answers, the secret is wrong, or input is missing', async () => {
  const { receiver, env, reconcile } = await setup({ missed: 12 });
  const other = await otherServer(() => ({ status: 200, body: 'welcome' }));
  closing.push(() => other.close());
  const noTimes = ['--field-name', 'createdAt=x', '--field-name', 'dialedAt=y'];
  const wrong = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
  for (const [args, code, told] of [
    [['--to', other.url], 1, '200 without an outcome'],
    [['--to', receiver.url, '--secret', wrong], 1, '401 signature-mismatch'],
    [['--to', 'https://example.com'], 2, '--allow-external'],
    [[], 2, 'Pass --to URL, or --dry-run'],
    [['--to', receiver.url, '--until', '13h'], 2, '--since has to be before --until'],
    [['--to', receiver.url, '--field-name', 'createAt=x'], 2, 'Did you mean createdAt?'],
    [[...noTimes, '--to', receiver.url], 2, '--field-name createdAt=FIELD'],
  ] as const)
    expect(await run([...reconcile, ...args], { env })).toMatchObject({
      ...{ code, stderr: expect.stringContaining(told) as unknown },
    });
  expect(other.received.length).toBeLessThanOrEqual(4);
  expect(receiver.runs).toEqual([]);
});
