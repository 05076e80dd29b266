import { describe, expect, test } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { closing, fill, idsOf, setup } from './support/dead-letters.ts';
import { receiver } from './support/receiver.ts';
import { run, start } from './support/run.ts';

describe('dead-letters redrive', () => {
  const redrive = ['dead-letters', 'redrive'];

  test('sends letters to the running receiver, which handles each once', async () => {
    const made = await setup();
    const { deadLetters, handled, url, env } = made;
    const keys = await fill(made, 5);
    const { code, stdout, stderr } = await run([...redrive, '--all', '--to', url], {
      env,
      terminal: true,
    });
    expect(code).toBe(0);
    expect(stdout).toContain(' handled, 0 failed, 0 skipped\n');
    expect(stderr).toContain('5 of 5');
    expect(handled.sort()).toEqual(keys.sort());
    expect(await deadLetters.count()).toBe(0);
    const again = await run([...redrive, '--all', '--to', url, '--json'], { env });
    expect(again.records()).toEqual([
      {
        ...{ type: 'result', handled: 0, queued: 0, failed: 0 },
        ...{ alreadyHandled: 0, unknown: 0, skipped: 0 },
      },
    ]);
  });

  test('one by its id, or by a filter', async () => {
    const made = await setup();
    const { deadLetters, handled, url, env } = made;
    const keys = await fill(made, 3);
    const [id = ''] = await idsOf(deadLetters);
    expect((await run([...redrive, id.slice(0, 8), '--to', url], { env })).code).toBe(0);
    expect(handled).toEqual(keys.slice(0, 1));
    const until = ['--until', '2026-01-02T03:04:02Z'];
    expect((await run([...redrive, ...until, '--to', url], { env })).stdout).toContain('1 handled');
    expect(handled).toEqual(keys.slice(0, 2));
  });

  test('a second failure is dead again, and the service finds it so', async () => {
    const made = await setup({ maxAttempts: 1 });
    const { deadLetters, state, url, env, hook } = made;
    const [key = ''] = await fill(made, 1);
    state.broken = true;
    const { code, stdout, stderr } = await run([...redrive, '--all', '--to', url], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '0 handled, 1 failed, 0 skipped\n' });
    expect(stderr).toContain('failed  dead-lettered');
    const { letters } = await deadLetters.list();
    expect(letters).toMatchObject([{ key, error: 'Error: still broken' }]);
    expect(letters[0]!.history).toHaveLength(2);
    expect(letters[0]).not.toHaveProperty('claimedUntil');
    const outcome = await hook.receiver.deliver(letters[0]!, { source: 'reconcile' });
    expect(outcome.outcome).toBe('in-dead-letters');
  });

  test('so is one that the receiver answers 500', async () => {
    const made = await setup({ maxAttempts: 3 });
    const { deadLetters, state, url, env, hook, handled } = made;
    await fill(made, 1);
    state.broken = true;
    expect((await run([...redrive, '--all', '--to', url], { env })).code).toBe(1);
    const { letters } = await deadLetters.list();
    expect(letters[0]!.error).toContain('The receiver answered 500 handler-failed.');
    const outcome = await hook.receiver.deliver(letters[0]!, { source: 'reconcile' });
    expect(outcome.outcome).toBe('in-dead-letters');
    state.broken = false;
    expect((await run([...redrive, '--all', '--to', url], { env })).code).toBe(0);
    expect(handled).toHaveLength(1);
  });

  test('keeps the letters when nobody listens, the secret is wrong, or something else answers', async () => {
    const made = await setup();
    const { deadLetters, url, env, hook } = made;
    await fill(made, 2);
    const other = await receiver(() => ({ status: 200, body: 'welcome' }));
    closing.push(() => other.close());
    const wrong = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
    for (const [args, code, told] of [
      [['--to', 'http://127.0.0.1:1/hook'], 3, 'Nothing listens'],
      [['--to', url, '--secret', wrong], 1, '401 signature-mismatch'],
      [['--to', other.url], 1, '200 without an outcome'],
    ] as const) {
      const result = await run([...redrive, '--all', ...args], { env });
      expect(result).toMatchObject({ code, stderr: expect.stringContaining(told) as unknown });
    }
    const { letters } = await deadLetters.list();
    expect(letters.map(({ history, claimedUntil }) => [history.length, claimedUntil])).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
    const outcome = await hook.receiver.deliver(letters[0]!, { source: 'reconcile' });
    expect(outcome.outcome).toBe('in-dead-letters');
    expect((await run([...redrive, '--all', '--to', url], { env })).code).toBe(0);
  });

  test('Ctrl-C waits for the letter that is being sent, and loses nothing', async () => {
    const [begun, gate] = [deferred(), deferred()];
    const handled: string[] = [];
    const made = await setup({
      on: {
        'call:completed': async (_event, { key = '' }) => {
          begun.resolve();
          await gate.promise;
          handled.push(key);
        },
      },
    });
    const { deadLetters, url, env } = made;
    const keys = await fill(made, 3);
    const program = start([...redrive, '--all', '--to', url], { env });
    await begun.promise;
    program.stop();
    expect(program.stderr()).toContain('Waiting for 1 letter to be handled. ');
    program.stop();
    expect(program.stderr()).toContain('The result of 1 letter is unknown, ');
    gate.resolve();
    expect(await program.code).toBe(130);
    expect(program.stdout()).toBe('1 handled, 0 failed, 0 skipped\n');
    expect(program.stderr()).toContain('2 not sent. To send them, run the command again.\n');
    expect(handled).toEqual(keys.slice(0, 1));
    const { letters } = await deadLetters.list();
    expect(letters.map(({ key }) => key)).toEqual(keys.slice(1));
    expect(letters.some(({ claimedUntil }) => claimedUntil)).toBe(false);
  });

  test('no response in time is a failure, and the letter stays', async () => {
    const gate = deferred();
    const made = await setup({ on: { 'call:completed': () => gate.promise } });
    const { deadLetters, url, env, hook } = made;
    await fill(made, 1);
    const argv = [...redrive, '--all', '--to', url];
    const { code, stdout, stderr } = await run([...argv, '--timeout', '200ms'], { env });
    expect(code).toBe(1);
    expect(stdout).toBe('0 handled, 0 failed, 1 unknown, 0 skipped\n');
    expect(stderr).toContain('  unknown  There was no response in 200 ms.\n');
    expect(await deadLetters.count()).toBe(1);
    gate.resolve();
    await hook.receiver.close();
  });

  test('a letter whose event was handled in the meantime is not called skipped', async () => {
    const made = await setup();
    const { deadLetters, handled, url, env, hook } = made;
    await fill(made, 2);
    const { letters } = await deadLetters.list();
    await hook.receiver.deliver(letters[0]!, { source: 'redrive' });
    const ids = letters.map(({ id }) => id);
    const { code, stdout, stderr } = await run([...redrive, ...ids, '--to', url], { env });
    expect(code).toBe(0);
    expect(stdout).toBe('1 handled, 1 already handled, 0 failed, 0 skipped\n');
    expect(stderr).toBe(`${ids[0]!.slice(0, 8)}  already handled; the letter is removed\n`);
    expect(handled).toHaveLength(2);
    expect(await deadLetters.count()).toBe(0);
  });
});
