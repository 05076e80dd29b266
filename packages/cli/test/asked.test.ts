import { describe, expect, test } from '@jest/globals';
import { deadLetter, queued, waitFor } from '@call-webhooks/contract-tests';
import { createSqliteWorker, sqliteQueue } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { closing, fill, idsOf, logger, setup } from './support/dead-letters.ts';
import { run, type Given } from './support/run.ts';

/** Three dead letters of a call, and a waiting job of it. */
async function stored() {
  const made = await setup();
  await fill(made, 3, { callId: 'c1' });
  const db = new Database(made.file);
  closing.push(() => db.close());
  const queue = sqliteQueue(db);
  await queue.enqueue(queued(Buffer.from('{"callId":"c1"}'), { key: 'job', callId: 'c1' }));
  const at = (argv: string[], typed: string, more: Given = {}) =>
    run(argv, { env: made.env, terminal: true, columns: 300, typed, ...more });
  const left = async () => [await made.deadLetters.count(), (await queue.stats()).waiting];
  return { ...made, queue, at, left };
}

type Stored = Awaited<ReturnType<typeof stored>>;

/** A job of the call c9 whose handler fails for good. */
async function failJob({ queue }: Stored) {
  const body = Buffer.from('{"eventName":"call:completed","callId":"c9"}');
  await queue.enqueue(queued(body, { key: 'k9', callId: 'c9' }));
  const on = { 'call:completed': () => Promise.reject(new Error('no')) };
  const worker = createSqliteWorker(queue, { maxRuns: 1, pollEvery: 5, logger, on });
  closing.push(() => worker.close());
  await waitFor(async () => (await queue.stats()).dead === 1);
}

/** Each kind of thing that may be all that is known of the call c9. */
const ALONE: [what: string, store: (made: Stored) => Promise<unknown>][] = [
  ['1 dead letter', ({ deadLetters }) => deadLetters.put(deadLetter({ callId: 'c9' }))],
  ['1 dead job', failJob],
  [
    '1 outcome',
    async ({ store }) => {
      const at = Date.now();
      const row = { at, process: 'p', durationMs: 1, source: 'webhook', attempt: 1 } as const;
      await store.log?.append({
        ...{ id: 'batch', failures: [], counts: {}, marks: {} },
        rows: [{ ...row, outcome: 'handled', webhookId: 'w', callId: 'c9' }],
        process: { id: 'p', host: 'h', pid: 1, startedAt: at, at, inFlight: 0 },
      });
    },
  ],
];

const told = ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr;

describe('a person at a terminal is asked', () => {
  test.each([
    ['y', [0, 1], 1, 'Erased 3 dead letters.'],
    ['n', [3, 1], 0, 'Nothing was erased.'],
    ['\r', [3, 1], 0, 'Nothing was erased.'], // the default is no
    ['\u0003', [3, 1], 130, 'Cancelled.'],
  ])('by erase, and %j does so', async (typed, left, code, says) => {
    const made = await stored();
    const erased = await made.at(['erase', '--call', 'c1'], typed);
    expect(told(erased)).toContain('Permanently erase 3 dead letters?');
    expect(told(erased)).toContain(says);
    expect([await made.left(), erased.code]).toEqual([left, code]);
  });

  test.each(ALONE)('by erase if all that it found is %s, and y erases it', async (what, store) => {
    const made = await stored();
    await store(made);
    const erased = await made.at(['erase', '--call', 'c9'], 'y');
    expect(told(erased)).toContain(`Permanently erase ${what}?`);
    expect([erased.stdout.split('\n').at(-2), erased.code]).toEqual([`Erased ${what}.`, 0]);
    expect((await made.at(['erase', '--call', 'c9'], 'y')).stderr).toBe(
      'Nothing was found that can be erased.\n',
    );
    expect(await made.deadLetters.count()).toBe(3);
  });

  test('by erase, which says that events would be lost, and that keys would be forgotten', async () => {
    const made = await stored();
    const erase = ['erase', '--call', 'c1', '--lose-waiting'];
    const lost = await made.at(erase, 'n');
    expect(told(lost)).toContain(
      'Permanently erase 3 dead letters, 1 waiting job? 1 event that the receiver has acknowledged will be lost before a handler has seen it.',
    );
    const keys = await made.at([...erase, '--forget-keys'], 'y');
    expect(told(keys)).toContain('1 waiting job? Their keys will be forgotten. 1 event that');
    expect(keys.stdout).toContain('Erased 3 dead letters, 1 waiting job, 3 keys.');
    expect([await made.left(), keys.code]).toEqual([[0, 0], 0]);
  });

  test('by erase only if something can be erased', async () => {
    const made = await stored();
    const nobody = await made.at(['erase', '--call', 'c2'], 'y');
    expect(told(nobody)).not.toContain('Permanently');
    expect(nobody).toMatchObject({ code: 0, stdout: '' });
    expect(nobody.stderr).toBe('Nothing was found that can be erased.\n');
    await made.deadLetters.remove((await idsOf(made.deadLetters))[0]!);
    const waiting = await made.at(['erase', '--tenant', 'nobody'], 'y');
    expect(told(waiting)).not.toContain('Permanently');
    expect(await made.left()).toEqual([2, 1]);
  });

  test.each([
    ['y', 2],
    ['n', 3],
    ['\r', 3],
  ])('by dead-letters remove, and %j leaves %i of 3', async (typed, left) => {
    const made = await stored();
    const [id = ''] = await idsOf(made.deadLetters);
    const removed = await made.at(['dead-letters', 'remove', id], typed);
    expect(told(removed)).toContain('Permanently remove this dead letter?');
    expect(removed.stdout.includes(`${id}  removed`)).toBe(left === 2);
    expect([removed.code, await made.deadLetters.count()]).toEqual([0, left]);
  });

  test('by dead-letters remove about all of them at once', async () => {
    const made = await stored();
    const ids = await idsOf(made.deadLetters);
    const removed = await made.at(['dead-letters', 'remove', ...ids], 'y');
    expect(told(removed)).toContain('Permanently remove these 3 dead letters?');
    expect(await made.deadLetters.count()).toBe(0);
  });

  test.each([
    ['in CI', { CI: 'true' }, []],
    ['whose output a script reads', {}, ['--json']],
  ])('nothing where nobody answers: %s', async (_where, env, flags) => {
    const made = await stored();
    const refused = await made.at(['erase', '--call', 'c1', ...flags], 'y', {
      env: { ...made.env, ...env },
    });
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('The erasure is not confirmed, and it cannot be undone.');
    expect(await made.left()).toEqual([3, 1]);
    // An empty variable is none.
    const asked = await made.at(['erase', '--call', 'c1'], 'y', { env: { ...made.env, CI: '' } });
    expect([asked.code, await made.left()]).toEqual([1, [0, 1]]);
  });

  test('nothing with --yes, and nothing is done without it where nobody can answer', async () => {
    for (const argv of [
      ['erase', '--call', 'c1'],
      ['dead-letters', 'remove', 'ID'],
    ]) {
      const made = await stored();
      const [id = ''] = await idsOf(made.deadLetters);
      const command = argv.map((one) => (one === 'ID' ? id : one));
      const refused = await run(command, { env: made.env });
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('is not confirmed, and it cannot be undone.');
      expect(await made.deadLetters.count()).toBe(3);
      const done = await made.at([...command, '--yes'], '');
      expect(told(done)).not.toContain('Permanently');
      expect(await made.deadLetters.count()).toBeLessThan(3);
    }
  });
});
