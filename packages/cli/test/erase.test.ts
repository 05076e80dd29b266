import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { deadLetter, queued } from '@call-webhooks/contract-tests';
import { sqliteQueue, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { remainsOf } from '../src/commands/erase.ts';
import { closing, fill, setup } from './support/dead-letters.ts';
import { run } from './support/run.ts';

const ADA = { name: 'Ada Lovelace', phone: '+49 171 5550123', email: 'ada@example.com' };
const VALUES = `${ADA.phone}\n\n ${ADA.email} \r\nAda Lovelace\n`;
const secretive = /ada|lovelace|5550123/i;

async function stored() {
  const made = await setup();
  const file = join(dirname(made.file), 'values.txt');
  writeFileSync(file, VALUES);
  const body = (callId: string, person: object) =>
    Buffer.from(JSON.stringify({ callId, ...person }));
  for (const callId of ['c1', 'c2'])
    await made.deadLetters.put(deadLetter({ callId, key: callId, rawBody: body(callId, ADA) }));
  await made.deadLetters.put(
    deadLetter({ callId: 'c3', key: 'c3', rawBody: body('c3', { phone: '+1 555 010 9999' }) }),
  );
  const db = new Database(made.file);
  closing.push(() => db.close());
  const queue = sqliteQueue(db);
  await queue.enqueue(queued(body('c4', ADA), { key: 'c4' }));
  const left = async () =>
    (await made.deadLetters.list()).letters.map(({ callId }) => callId).sort();
  return { ...made, file, queue, left };
}

describe('erase', () => {
  test('lists in a dry run what would be erased, without personal data, and erases nothing', async () => {
    const { env, file, left } = await stored();
    const shown = await run(['erase', '--contains', file, '--dry-run'], { env });
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('Would erase 2 dead letters.');
    expect(shown.stdout.match(/dead letters +dead/g)).toHaveLength(2);
    expect(shown.stderr).toContain('Skipped: 1 waiting job,');
    expect(`${shown.stdout}${shown.stderr}`).not.toMatch(secretive);
    expect(await left()).toEqual(['c1', 'c2', 'c3']);
    const json = await run(['erase', '--contains', file, '--dry-run', '--json'], { env });
    expect(json.records()).toMatchObject([
      { type: 'match', where: 'dead letters', result: 'erased' },
      { type: 'match', where: 'dead letters', result: 'erased' },
      { type: 'match', where: 'jobs', state: 'waiting', result: 'left waiting' },
      { type: 'result', dryRun: true, deadLetters: 2, leftWaiting: 1 },
    ]);
    expect(json.stdout).not.toMatch(secretive);
  });

  test('names a file that is missing before it asks for --yes', async () => {
    const { env, left } = await stored();
    for (const confirmed of [[], ['--yes'], ['--dry-run']]) {
      const argv = ['erase', '--contains', 'nofile', '--all-tenants', ...confirmed];
      const { code, stdout, stderr } = await run(argv, { env });
      expect([confirmed, code, stdout]).toEqual([confirmed, 3, '']);
      expect(stderr).toContain('The file of --contains cannot be read.');
    }
    expect(await left()).toEqual(['c1', 'c2', 'c3']);
  });

  test('erases what standard input names, says who did it and what remains, and ends with 1 while something waits', async () => {
    const { env, left, queue } = await stored();
    const erased = await run(['erase', '--contains', '-', '--yes', '--by', 'ops'], {
      env,
      stdin: VALUES,
    });
    expect(erased.stdout).toContain('Erased 2 dead letters.');
    expect(erased.stderr).toContain(
      'call-webhooks: ops erased 2 dead letters; left alone: 1 waiting.',
    );
    expect(erased.stderr).toContain('VACUUM');
    expect(`${erased.stdout}${erased.stderr}`).not.toMatch(secretive);
    expect(erased.code).toBe(1);
    expect(await left()).toEqual(['c3']);
    const rest = ['erase', '--contains', '-', '--yes', '--lose-waiting', '--json'];
    const again = await run(rest, { env, stdin: VALUES });
    expect(again.code).toBe(0);
    expect(again.records()).toMatchObject([
      {
        type: 'result',
        deadLetters: 0,
        waitingJobs: 1,
        remains: [expect.stringContaining('VACUUM'), expect.any(String)],
      },
    ]);
    expect((await queue.stats()).waiting).toBe(0);
  });

  test('erases by call and by age', async () => {
    const { env, left } = await stored();
    expect((await run(['erase', '--call', 'c1', 'c3', '--yes'], { env })).code).toBe(0);
    expect(await left()).toEqual(['c2']);
    await run(['erase', '--before', '1d', '--yes'], { env });
    expect(await left()).toEqual([]);
    expect((await run(['erase', '--call', 'c1', '--yes'], { env })).stdout).toContain(
      'Erased nothing.',
    );
  });

  test('looks at the queue with the prefix of the store, and at no other', async () => {
    const made = await setup();
    const db = new Database(made.file);
    closing.push(() => db.close());
    const queues = { usual: sqliteQueue(db), shop: sqliteQueue(db, { prefix: 'shop_' }) };
    await sqliteStore(db, { prefix: 'shop_' }).ping?.();
    for (const queue of Object.values(queues))
      await queue.enqueue(queued(Buffer.from('{"callId":"c4"}'), { key: 'c4', callId: 'c4' }));
    const waiting = async () =>
      Promise.all(Object.values(queues).map(async (one) => (await one.stats()).waiting));
    const erase = ['erase', '--call', 'c4', '--lose-waiting', '--yes', '--prefix', 'shop_'];
    expect(await run(erase, made)).toMatchObject({ code: 0, stdout: 'Erased 1 waiting job.\n' });
    expect(await waiting()).toEqual([1, 0]);
    expect((await run(erase.slice(0, -2), made)).stdout).toBe('Erased 1 waiting job.\n');
    expect(await waiting()).toEqual([0, 0]);
  });

  test('says which lines found nothing, and which line found each match', async () => {
    const { env } = await stored();
    const stdin = `${ADA.phone}\n\nnobody@example.com\n5550123\nAda Lovelace\n`;
    const shown = await run(['erase', '--contains', '-', '--dry-run', '--json'], { env, stdin });
    expect(shown.code).toBe(0);
    const warning = expect.stringContaining('The values in lines 3, 4 were not found.');
    expect(shown.records()).toMatchObject([
      ...[{ lines: [1, 5] }, { lines: [1, 5] }, { state: 'waiting', lines: [1, 5] }],
      { type: 'result', warnings: [warning, expect.stringContaining('1 waiting job')] },
    ]);
    const erased = await run(['erase', '--contains', '-', '--yes'], { env, stdin });
    expect(erased.stderr).toContain('The values in lines 3, 4 were not found.');
    expect(`${shown.stdout}${shown.stderr}${erased.stderr}`).not.toMatch(secretive);
  });

  test('asks a receiver with tenants whose data are erased, and shows them in a dry run', async () => {
    const made = await setup();
    for (const tenant of ['acme', 'globex'])
      await fill(made, 1, { tenant, callId: `c-${tenant}`, key: `${tenant}/c1` });
    const file = join(dirname(made.file), 'values.txt');
    writeFileSync(file, 'call:completed\n');
    for (const what of [
      ['--contains', file],
      ['--before', '0s'],
      ['--call', 'c-acme'],
    ]) {
      const refused = await run(['erase', ...what, '--yes'], made);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('This receiver has tenants: acme, globex.');
      expect(refused.stderr).toContain('--all-tenants');
    }
    const all = ['erase', '--call', 'c-acme', 'c-globex', '--all-tenants'];
    const shown = await run([...all, '--dry-run'], made);
    expect(shown.stdout).toMatch(/would be +tenant/);
    expect(shown.stdout).toMatch(/erased +acme/);
    expect(shown.stdout).toMatch(/erased +globex/);
    expect((await run([...all, '--tenant', 'acme', '--yes'], made)).code).toBe(2);
    const keys = await run([...all, '--forget-keys', '--yes'], made);
    expect(keys).toMatchObject({ code: 2, stderr: expect.stringContaining('--tenant NAME') });
    expect((await run([...all, '--yes'], made)).stdout).toBe('Erased 2 dead letters.\n');
    // The keys of what is found are known, whose they are.
    await fill(made, 1, { tenant: 'acme', callId: 'c9', key: 'acme/c9' });
    const old = ['erase', '--before', '0s', '--all-tenants', '--forget-keys', '--yes'];
    expect(await run(old, made)).toMatchObject({
      ...{ code: 0, stdout: expect.stringMatching(/^Erased 1 dead letter, \d keys?\.\n$/) },
    });
  });

  test('refuses to forget the keys of a call without its tenant, and names the tenants', async () => {
    const made = await setup();
    await fill(made, 1, { tenant: 'acme', callId: 'c1', key: 'acme/c1' });
    const refused = await run(['erase', '--call', 'c1', '--forget-keys', '--yes'], made);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('This receiver has tenants: acme.');
    expect(refused.stderr).toContain('--tenant NAME');
    expect(await made.deadLetters.count()).toBe(1);
    const typo = await run(['erase', '--call', 'c1', '--tenant', 'acne', '--dry-run'], made);
    expect(typo.stderr).toContain(
      'no deliveries for tenant acne, only for acme. If the name is wrong',
    );
    const erased = ['erase', '--call', 'c1', '--forget-keys', '--tenant', 'acme', '--yes'];
    expect((await run(erased, made)).stdout).toBe('Erased 1 dead letter, 1 key.\n');
    expect(await made.store.peek?.(['acme/c1'])).toEqual([undefined]);
  });

  test('refuses to guess, to erase unasked, and to search for too little', async () => {
    const { env, file, left } = await stored();
    const refused = async (...args: string[]) => {
      const { code, stderr } = await run(['erase', ...args], { env });
      expect(code).toBe(2);
      return stderr;
    };
    expect(await refused('--yes')).toContain('does not say whose data to erase');
    expect(await refused('--call', 'c1')).toContain('Look with --dry-run first');
    expect(await refused('--call', 'c1', '--queue', 'calls', '--yes')).toContain('has no name');
    writeFileSync(file, '12\n');
    expect(await refused('--contains', file, '--yes')).toContain(
      'The value in line 1 is too short',
    );
    const given = await run(['erase', '--contains', ADA.phone, '--yes'], { env });
    expect(given).toMatchObject({ code: 3, stdout: '' });
    expect(given.stderr).toContain('It expects the path of a file, not a value.');
    expect(given.stderr).not.toMatch(secretive);
    writeFileSync(file, '\n');
    expect(await refused('--contains', file, '--yes')).toContain('no values');
    expect(await left()).toHaveLength(3);
  });
});

test.each([
  ['redis://127.0.0.1:6379', /run BGREWRITEAOF/],
  ['rediss://cache.example', /run BGREWRITEAOF/],
  ['postgres://db.example/calls', /run VACUUM FULL/],
  ['postgresql://db.example/calls', /run VACUUM FULL/],
  ['mysql://db.example/calls', /run OPTIMIZE TABLE/],
  ['mariadb://db.example/calls', /run OPTIMIZE TABLE/],
  ['sqlite:calls.db', /PRAGMA wal_checkpoint/],
  ['./my-store.mjs', /^$/],
])('an erasure in %s tells what remains, and how to remove it: %p', (url, first) => {
  expect(remainsOf(url)[0] ?? '').toMatch(first);
});
