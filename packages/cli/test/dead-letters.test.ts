import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { memoryDeadLetters } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { causesOf } from '../src/store/letters.ts';
import { fill, idsOf, setup, closing } from './support/dead-letters.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

describe('dead-letters list and show', () => {
  test('lists what failed, oldest first, with filters and limits', async () => {
    const made = await setup();
    const { deadLetters, env, file } = made;
    await fill(made, 3);
    await deadLetters.put(deadLetter({ eventName: 'call:started', errorText: 'Error: \u001b[2J' }));
    const { code, stdout } = await run(['dead-letters', 'list'], { env, terminal: true });
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[1]).toMatch(/^2026-01-0\d .* [0-9a-f]{8} +call:completed +Error: the CRM is down/);
    expect(stdout).toContain('\\x1b[2J');
    const only = await run(['dead-letters', 'list', '--event', 'call:started', '--json'], { env });
    expect(only.records()).toMatchObject([{ eventName: 'call:started', attempt: 3 }]);
    const some = await run(['dead-letters', 'list', '-n', '2', '--store', `sqlite:${file}`]);
    expect(some.stderr).toContain('These are the first 2. For more: --limit 20');
    const until = ['--until', '2026-01-02T03:04:01Z'];
    expect(
      (await run(['dead-letters', 'list', ...until, '--json'], { env })).records(),
    ).toHaveLength(1);
    const since = ['--since', '1h'];
    expect((await run(['dead-letters', 'list', ...since], { env })).stderr).toContain('no such');
  });

  test('causes are those of all letters, up to the first 10,000', async () => {
    const deadLetters = memoryDeadLetters({ maxLetters: 20_000 });
    const put = async (count: number) => {
      for (let at = 0; at < count; at++)
        await deadLetters.put(deadLetter({ errorText: 'Error: down' }));
    };
    await put(10_000);
    const found = async () => {
      const { causes, isWhole } = await causesOf(deadLetters, {});
      return { counts: causes.map(({ count }) => count), isWhole };
    };
    expect(await found()).toEqual({ counts: [10_000], isWhole: true });
    await put(1);
    expect(await found()).toEqual({ counts: [10_000], isWhole: false });
  });

  test('--since has what failed at that time, and --until does not', async () => {
    const made = await setup();
    const { env } = made;
    await fill(made, 3); // at second 0, 1 and 2
    const at = (second: number) => `2026-01-02T03:04:0${second.toFixed(3)}Z`;
    const secondsOf = async (...flags: string[]) => {
      const { records } = await run(['dead-letters', 'list', ...flags, '--json'], { env });
      return records().map(({ failedAt }) => new Date(String(failedAt)).getSeconds());
    };
    expect(await secondsOf('--since', at(1))).toEqual([1, 2]);
    expect(await secondsOf('--since', at(1.001))).toEqual([2]);
    expect(await secondsOf('--until', at(1))).toEqual([0]);
    expect(await secondsOf('--until', at(1.001))).toEqual([0, 1]);
    expect(await secondsOf('--since', at(1), '--until', at(1.001))).toEqual([1]);
    const empty = await run(['dead-letters', 'list', '--since', at(1), '--until', at(1)], { env });
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('before --until') });
  });

  test('finds those of a person by a value of the body, which no output contains', async () => {
    const made = await setup();
    const { deadLetters, env, url, handled } = made;
    const person = { callerPhone: '+49 171 5550123', name: 'Ada Lovelace' };
    for (const [callId, more] of Object.entries({ c1: person, c2: { name: 'Charles Babbage' } }))
      await deadLetters.put(
        deadLetter({
          callId,
          key: callId,
          rawBody: Buffer.from(JSON.stringify({ eventName: 'call:completed', callId, ...more })),
        }),
      );
    const find = (argv: string[], stdin: string) =>
      run(['dead-letters', ...argv, '--contains', '-'], { env, stdin });
    for (const value of ['0171 5550123\n', 'nobody@example.com\n ada lovelace \n']) {
      const { stdout, stderr, code } = await find(['list', '--json'], value);
      expect(stdout.trim().split('\n')).toHaveLength(1);
      expect(JSON.parse(stdout)).toMatchObject({ callId: 'c1' });
      expect({ code, leaked: /5550123|lovelace/i.test(stdout + stderr) }).toEqual({
        code: 0,
        leaked: false,
      });
    }
    expect((await find(['causes', '--json'], 'Ada Lovelace')).records()).toMatchObject([
      { count: 1 },
    ]);
    expect((await find(['list'], 'Grace Hopper')).stderr).toContain('no such dead letters');
    for (const argv of [['list'], ['causes'], ['redrive', '--to', url]]) {
      const part = await find(argv, 'Grace Hopper\n5550123');
      expect(part.stderr).toContain(
        'found only if it is written in full. Give its last nine digits',
      );
      expect((await find(argv, 'Grace Hopper')).stderr).not.toContain('digits');
    }
    expect(await find(['list'], '12')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The value in line 1 is too short'),
    });
    const redriven = await find(['redrive', '--to', url], 'Ada Lovelace');
    expect(redriven.stdout).toBe('1 handled, 0 failed, 0 skipped\n');
    expect(handled).toHaveLength(1);
    expect((await deadLetters.list()).letters).toMatchObject([{ callId: 'c2' }]);
  });

  test('groups them by cause, and lists and redrives those of one', async () => {
    const made = await setup();
    const { deadLetters, env, url, handled } = made;
    for (const contact of ['c-17', 'c-18']) {
      const errorText = `Error: the CRM responded 422: no contact "${contact}"`;
      await fill(made, 1, { errorText });
    }
    await fill(made, 1, { errorText: 'Error: connect ECONNREFUSED', eventName: 'call:completed' });
    const { records } = await run(['dead-letters', 'causes', '--json'], { env });
    const found = records() as { id: string; count: number; text: string }[];
    expect(found).toMatchObject([
      { count: 2, text: 'Error: the CRM responded 422: no contact …' },
      { count: 1, text: 'Error: connect ECONNREFUSED' },
    ]);
    const terminal = { env: { ...env, NO_COLOR: '1' }, terminal: true, columns: 80 };
    const { stdout } = await run(['dead-letters', 'causes'], terminal);
    expect(stdout).toMatch(/^2 +[0-9a-f]{8} .*call:completed\n {7}Error: the CRM responded/m);
    const cause = found[0]!.id.slice(0, 6);
    const only = await run(['dead-letters', 'list', '--cause', cause, '--json'], { env });
    expect(only.records()).toHaveLength(2);
    const redriven = await run(['dead-letters', 'redrive', '--cause', cause, '--to', url], { env });
    expect(redriven.stdout).toContain('2 handled');
    expect(handled).toHaveLength(2);
    expect(await idsOf(deadLetters)).toHaveLength(1);
    const none = await run(['dead-letters', 'list', '--cause', 'ffff'], { env });
    expect(none.stderr).toContain('There are no such dead letters.');
  });

  test('fits a terminal of 80 columns', async () => {
    const { deadLetters, env } = await setup();
    const errorText = `Error: ${'the CRM is down '.repeat(20)}`;
    await deadLetters.put(deadLetter({ eventName: 'call:recording-available', errorText }));
    const narrow = { env: { ...env, NO_COLOR: '1' }, terminal: true, columns: 80 };
    const { stdout } = await run(['dead-letters', 'list'], narrow);
    expect(stdout).toMatch(/ Error: the CRM is dow…\n/);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('shows one, and hides personal data unless it is asked for', async () => {
    const made = await setup();
    const { deadLetters, env } = made;
    const body = {
      eventName: 'call:completed',
      callId: 'c-1',
      recipientName: 'Ada Lovelace',
      n: 5550123,
    };
    await deadLetters.put(
      deadLetter({ rawBody: Buffer.from(JSON.stringify(body)), callId: 'c-1' }),
    );
    const [id = ''] = await idsOf(deadLetters);
    const masked = await run(['dead-letters', 'show', id.slice(0, 6)], { env });
    expect(masked.code).toBe(0);
    for (const shown of [id, 'c-1', 'recipientName', 'Error: the CRM is down', 'handler-failed'])
      expect(masked.stdout).toContain(shown);
    const json = await run(['dead-letters', 'show', id, '--json'], { env });
    for (const text of [masked.stdout, json.stdout])
      for (const hidden of ['Ada', 'Lovelace', '5550123']) expect(text).not.toContain(hidden);
    expect((await run(['dead-letters', 'show', id, '--reveal'], { env })).stdout).toContain(
      'Ada Lovelace',
    );
    const revealed = await run(['dead-letters', 'show', id, '--reveal', '--json'], { env });
    expect(JSON.parse(String(revealed.records()[0]!['body']))).toEqual(body);

    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    await deadLetters.put(deadLetter({ rawBody: bytes, failedAt: new Date() }));
    const other = (await idsOf(deadLetters)).at(-1) ?? '';
    expect((await run(['dead-letters', 'show', other], { env })).stdout).toContain('3 bytes');
    const raw = await run(['dead-letters', 'show', other, '--reveal', '--json'], { env });
    expect(raw.records()[0]).toMatchObject({ base64: '/wD+', bytes: 3 });
  });

  test('removes letters, not without being sure', async () => {
    const made = await setup();
    const { deadLetters, env } = made;
    await fill(made, 3);
    const [first = '', second = '', third = ''] = await idsOf(deadLetters);
    const refused = await run(['dead-letters', 'remove', first], { env });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as unknown });
    const removed = await run(['dead-letters', 'remove', first, second.slice(0, 8), '--yes'], {
      env,
    });
    expect(removed.code).toBe(0);
    expect(await idsOf(deadLetters)).toEqual([third]);
  });
});

describe('a command that only reads changes no file of SQLite', () => {
  /** A file of another application. */
  function otherFile() {
    const folder = mkdtempSync(join(tmpdir(), 'cli-other-'));
    closing.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'notes.db');
    const db = new Database(file);
    db.exec('CREATE TABLE notes (text TEXT)');
    db.close();
    return { folder, file };
  }
  const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

  test.each([['list'], ['show', '1f2e'], ['remove', '1f2e', '--yes']])(
    '%s with the file of another application is exit code 3',
    async (...argv) => {
      const { folder, file } = otherFile();
      const before = hashOf(file);
      const { code, stderr } = await run(['dead-letters', ...argv, '--store', `sqlite:${file}`]);
      expect({ code, hash: hashOf(file) }).toEqual({ code: 3, hash: before });
      expect(stderr).toContain(
        'contains no tables of a receiver: no table name starts with call_webhooks_.',
      );
      expect(readdirSync(folder)).toEqual(['notes.db']);
    },
  );

  test('a wrong --prefix is exit code 3, and names the right one', async () => {
    const { deadLetters, env } = await setup();
    await deadLetters.put(deadLetter());
    const { code, stderr } = await run(['dead-letters', 'list', '--prefix', 'shop_'], { env });
    expect(code).toBe(3);
    expect(stderr).toContain('pass --prefix call_webhooks_.');
  });

  test('a receiver that has given nothing up has no dead letters', async () => {
    const { file } = otherFile();
    const db = new Database(file);
    closing.push(() => db.close());
    const store = sqliteStore(db);
    await store.admit({ webhookId: 'a', replayUntil: 0, leaseMs: 1, token: 'a' });
    const { code, stderr } = await run(['dead-letters', 'list', '--store', `sqlite:${file}`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'There are no dead letters.\n' });
  });

  test('a file that is no database is exit code 3', async () => {
    const { file } = otherFile();
    writeFileSync(file, 'no database, but a text that is long enough to be one'.repeat(20));
    const { code, stderr } = await run(['dead-letters', 'list', '--store', `sqlite:${file}`]);
    expect(code).toBe(3);
    expect(stderr).toContain('fix:   Check the path');
  });
});

describe('dead-letters: what is wrong on the command line', () => {
  test.each([
    [['list'], 2, 'CALL_WEBHOOKS_STORE'],
    [['list', '--store', 'mongodb://x'], 2, 'sqlite:'],
    [['list', '--store', 'sqlite:/nowhere/calls.db'], 3, 'There is no file'],
    [['list', '--store', 'redis://127.0.0.1:1'], 3, 'Nothing is listening at this address'],
    [['list', '--store', 'redis://nobody.invalid'], 3, 'Check the host name'],
    [['list', '--store', 'redis://:a#b@127.0.0.1:1'], 2, '%23'],
    [['list', '--store', 'postgres://u:a#b@127.0.0.1:1/x'], 2, '%23'],
    [['list', '--store', 'postgres://127.0.0.1:1/x'], 3, 'Nothing is listening at this address'],
    [['list', '--store', 'postgres://nobody.invalid/x'], 3, 'Check the host name'],
    [['list', '--since', 'yesterday'], 2, 'neither a time nor a duration'],
    [['list', '--since', '5'], 2, 'Add one: 5s, 5m, 5h or 5d.'],
    [['list', '--until', '5'], 2, '5 has no unit'],
    [
      ['list', '--since', '1h', '--until', '2h', '--store', 'redis://127.0.0.1:1'],
      2,
      'before --until',
    ],
    [['causes', '--since', '2026-02-30'], 2, 'neither a time nor a duration'],
    [['redrive', '--since', '5', '--to', '3000', '--secret', SECRET], 2, '5 has no unit'],
    [
      ['redrive', '--all', '--timeout', '5', '--to', '3000', '--secret', SECRET],
      2,
      '5 has no unit',
    ],
    [['redrive', '--all', '--timeout', '60d', '--to', '3000', '--secret', SECRET], 2, '1ms to 24d'],
    [['redrive', '--to', '3000', '--secret', SECRET], 2, '--all'],
    [['redrive', 'abc', '--all', '--to', '3000', '--secret', SECRET], 2, 'cannot be combined'],
    [['redrive', '--all', '--to', 'https://example.com/hook'], 2, '--allow-external'],
  ])('%j', async (argv, code, told) => {
    const result = await run(['dead-letters', ...argv]);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(told) as unknown });
  });

  test('an id that no letter, or several letters have', async () => {
    const made = await setup();
    await fill(made, 20);
    const show = (id: string) => run(['dead-letters', 'show', id], { env: made.env });
    expect((await show('xyz')).stderr).toContain('There is no dead letter xyz');
    expect((await show('')).stderr).toContain('several dead letters');
  });
});

test('reconcile says which events are in the dead letters, and how to run them', async () => {
  const { state, handled, url, env } = await setup({ maxAttempts: 1 });
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: Date.now() - 10 * 3_600_000 },
  });
  closing.push(() => simulator.close());
  const place = async (count: number) => {
    for (let made = 0; made < count; made++)
      simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance('2m');
  };
  const given = {
    env: {
      ...env,
      CALL_WEBHOOKS_BASE_URL: simulator.url,
      CALL_WEBHOOKS_API_TOKEN: simulator.apiToken,
    },
  };
  const reconcile = ['reconcile', '--since', '12h', '--to', url];
  state.broken = true;
  await place(4);
  const first = await run(reconcile, given);
  expect(first.stdout).toBe('4 calls: 4 events missed, 0 handled, 0 known, 4 failed\n');
  state.broken = false;
  await place(1);
  const then = await run(reconcile, given);
  expect(then).toMatchObject({ code: 0 });
  expect(then.stdout).toBe(
    '5 calls: 1 event missed, 1 handled, 0 known, 0 failed, 4 in the dead letters\n',
  );
  expect(then.stderr).toContain('npx call-webhooks dead-letters redrive\n');
  const json = await run([...reconcile, '--json'], given);
  expect(json.records().at(-1)).toMatchObject({ type: 'result', known: 1, inDeadLetters: 4 });

  expect((await run(['dead-letters', 'redrive', '--all', '--to', url], given)).code).toBe(0);
  expect(handled).toHaveLength(5);
  const last = await run(reconcile, given);
  expect(last.stdout).toBe('5 calls: 0 events missed, 0 handled, 5 known, 0 failed\n');
  expect(last.stderr).not.toContain('dead letters');
});
