import { describe, expect, test } from '@jest/globals';
import { collectingLogger, deadLetter, deferred } from '@call-webhooks/contract-tests';
import { generateSecret, type Store } from '@call-webhooks/core';
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
        ...{ alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 0 },
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

  test('dead jobs of a queue are left to its workers, and it says once how they get them', async () => {
    const made = await setup();
    await fill(made, 3, { source: 'queue' });
    const given = { env: made.env, columns: 200 };
    const { code, stdout, stderr } = await run([...redrive, '--all', '--to', made.url], given);
    expect(code).toBe(1);
    expect(stdout).toBe('0 handled, 0 failed, 3 skipped\n');
    expect(
      stderr.match(/dead jobs of a queue. To run them, call redrive\({ deadJobs }\)/g),
    ).toHaveLength(1);
    const json = await run([...redrive, '--all', '--to', made.url, '--json'], given);
    expect(json.records().slice(0, 3)).toMatchObject(
      Array(3).fill({ type: 'letter', result: 'skipped', reason: 'dead-job' }),
    );
    expect(made.handled).toEqual([]);
  });

  test('a second failure is dead again, and the service finds it so', async () => {
    const made = await setup({ maxAttempts: 1 });
    const { deadLetters, state, url, env, hook } = made;
    const [key = ''] = await fill(made, 1);
    state.broken = true;
    const { code, stdout, stderr } = await run([...redrive, '--all', '--to', url], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '0 handled, 1 failed, 0 skipped\n' });
    expect(stderr).toContain('failed again: the dead letter has the new error');
    const { letters } = await deadLetters.list();
    expect(letters).toMatchObject([{ key, error: 'Error: still broken' }]);
    expect(letters[0]!.history).toHaveLength(2);
    expect(letters[0]).not.toHaveProperty('claimedUntil');
    const letter = (await deadLetters.get(letters[0]!.id))!;
    const outcome = await hook.receiver.deliver(letter, { source: 'reconcile' });
    expect(outcome.outcome).toBe('in-dead-letters');
  });

  test('the log of the receiver does not say that the service retries it', async () => {
    const logger = collectingLogger();
    const made = await setup({ maxAttempts: 3, logger });
    await fill(made, 1);
    made.state.broken = true;
    const { url: to, env } = made;
    expect((await run([...redrive, '--all', '--to', to], { env })).code).toBe(1);
    expect(logger.entries).toMatchObject([
      { fields: { outcome: 'dead-lettered', retriedBy: 'nobody' } },
    ]);
  });

  test('one that fails again has the new error and attempt, whatever maxAttempts is', async () => {
    const made = await setup({ maxAttempts: 3 });
    const { deadLetters, state, url, env, hook, handled } = made;
    await fill(made, 1);
    state.broken = true;
    const before = (await deadLetters.list()).letters[0]!;
    const failed = await run([...redrive, '--all', '--to', url], { env });
    expect(failed.code).toBe(1);
    const { letters } = await deadLetters.list();
    expect(letters).toMatchObject([
      {
        ...{ id: before.id, error: 'Error: still broken', source: 'redrive' },
        attempt: before.attempt + 1,
      },
    ]);
    expect(letters[0]!.history).toHaveLength(2);
    expect(letters[0]).not.toHaveProperty('claimedUntil');
    const letter = (await deadLetters.get(before.id))!;
    const outcome = await hook.receiver.deliver(letter, { source: 'reconcile' });
    expect(outcome.outcome).toBe('in-dead-letters');
    state.broken = false;
    expect((await run([...redrive, '--all', '--to', url], { env })).code).toBe(0);
    expect(handled).toHaveLength(1);
    expect(await deadLetters.count()).toBe(0);
  });

  test('one without a key stays the only letter of its event', async () => {
    const made = await setup({ maxAttempts: 3 });
    const { deadLetters, url, env } = made;
    const { key: _, ...letter } = deadLetter({ reason: 'invalid-payload' });
    await deadLetters.put({ ...letter, rawBody: Buffer.from('{"eventName":"call:completed"') });
    const failed = await run([...redrive, '--all', '--to', url], { env });
    expect(failed).toMatchObject({ code: 1, stdout: '0 handled, 1 failed, 0 skipped\n' });
    expect(await deadLetters.count()).toBe(1);
  });

  test('keeps the letters when nobody listens, the secret is wrong, or something else answers', async () => {
    const made = await setup();
    const { deadLetters, url, env, hook, store } = made;
    const keys = await fill(made, 2);
    const other = await receiver(() => ({ status: 200, body: 'welcome' }));
    closing.push(() => other.close());
    const wrong = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
    for (const [args, code, told] of [
      [['--to', 'http://127.0.0.1:1/hook'], 3, 'Nothing is listening'],
      [['--to', url, '--secret', wrong], 1, '401 signature-mismatch'],
      [['--to', other.url], 1, '200 without an outcome'],
    ] as const) {
      const result = await run([...redrive, '--all', ...args], { env });
      expect(result).toMatchObject({ code, stderr: expect.stringContaining(told) as unknown });
      expect(await store.peek?.(keys)).toEqual(['dead-lettered', 'dead-lettered']);
    }
    const { letters } = await deadLetters.list();
    expect(letters.map(({ history, claimedUntil }) => [history.length, claimedUntil])).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
    const letter = (await deadLetters.get(letters[0]!.id))!;
    const outcome = await hook.receiver.deliver(letter, { source: 'reconcile' });
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
    const before = Date.now();
    const timeout = ['--timeout', '4m'];
    const program = start([...redrive, '--all', '--to', url, ...timeout], { env, columns: 300 });
    await begun.promise;
    // Until then, no other redrive runs it: half a minute longer than a response is awaited.
    const claims = (await deadLetters.list()).letters.map(({ claimedUntil }) => claimedUntil);
    expect(claims.slice(1)).toEqual([undefined, undefined]);
    expect(Number(claims[0])).toBeGreaterThanOrEqual(before + 270_000);
    expect(Number(claims[0])).toBeLessThanOrEqual(Date.now() + 270_000);
    program.stop();
    program.stop();
    gate.resolve();
    expect(await program.code).toBe(130);
    expect(program.stdout()).toBe('1 handled, 0 failed, 0 skipped\n');
    expect(program.stderr()).toBe(
      [
        'Waiting for the requests in progress. Press Ctrl-C again to stop at once.\n',
        'The result of the requests in progress is unknown, but no dead letter is lost. To see the result, run the command again in 4 min 30 s.\n',
        '2 not sent. To send them, run the command again.\n',
      ].join(''),
    );
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
    expect(stderr).toContain(
      '  unknown: there was no response, so the handler may still be running\n',
    );
    expect(await deadLetters.count()).toBe(1);
    gate.resolve();
    await hook.receiver.close();
  });

  test('a letter whose event was handled in the meantime is not called skipped', async () => {
    const made = await setup();
    const { deadLetters, handled, url, env, hook } = made;
    await fill(made, 2);
    const { letters } = await deadLetters.list();
    const first = (await deadLetters.get(letters[0]!.id))!;
    await hook.receiver.deliver(first, { source: 'redrive' });
    const ids = letters.map(({ id }) => id);
    const { code, stdout, stderr } = await run([...redrive, ...ids, '--to', url], { env });
    expect(code).toBe(0);
    expect(stdout).toBe('1 handled, 1 already handled, 0 failed, 0 skipped\n');
    expect(stderr).toBe(`${ids[0]!.slice(0, 8)}  already handled: the dead letter was removed\n`);
    expect(handled).toHaveLength(2);
    expect(await deadLetters.count()).toBe(0);
  });
});

const redrive = ['dead-letters', 'redrive'];

/** What the store answers for an event. */
async function admitted(store: Store, key: string): Promise<string> {
  const claim = { key, token: 'asked', webhookId: 'asked', replayUntil: Date.now() };
  return (await store.admit({ ...claim, leaseMs: 60_000 })).status;
}

describe('dead-letters redrive with tenants', () => {
  const secrets: Record<string, string> = { acme: generateSecret(), globex: generateSecret() };
  /** One letter of each tenant and one of none, and a receiver that knows the tenants by the path. */
  async function twoTenants() {
    const ran: unknown[] = [];
    const made = await setup({
      tenant: ({ path }) => path.split('/')[2],
      secret: ({ tenant }) => secrets[tenant],
      on: { 'call:completed': ({ callId }, { tenant }) => void ran.push([tenant, callId]) },
    });
    for (const tenant of ['acme', 'globex']) {
      const callId = `call-of-${tenant}`;
      const rawBody = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId }));
      const key = `tenant:${tenant}:${callId}:call:completed`;
      await fill(made, 1, { tenant, callId, key, rawBody });
    }
    await fill(made, 1, { callId: 'call-of-nobody' });
    const { letters } = await made.deadLetters.list();
    const letterOf = (name?: string) => letters.find(({ tenant }) => tenant === name)!;
    const to = (tenant: string) => ['--to', made.url.replace('/hook', `/hooks/${tenant}`)];
    const argv = (tenant: string) => [...to(tenant), '--secret', secrets[tenant]!];
    return { ...made, ran, letterOf, argv };
  }

  test('sends only the letters of --tenant, and leaves all others as they were', async () => {
    const { deadLetters, store, env, ran, letterOf, argv } = await twoTenants();
    const ofAcme = [...redrive, ...argv('acme'), '--tenant', 'acme'];
    const [globex, nobody] = [letterOf('globex'), letterOf()];
    const byId = await run([...ofAcme, globex.id, nobody.id, letterOf('acme').id], { env });
    expect(byId).toMatchObject({ code: 2, stdout: '' });
    expect(byId.stderr).toContain(
      '2 of 3 dead letters do not belong to tenant acme: globex (1), no tenant (1). Nothing was sent.',
    );
    expect(ran).toEqual([]);
    const { code, stdout } = await run(ofAcme, { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1 handled, 0 failed, 0 skipped\n' });
    expect(ran).toEqual([['acme', 'call-of-acme']]);
    expect(await deadLetters.get(globex.id)).toMatchObject(globex);
    expect(await deadLetters.get(nobody.id)).toMatchObject(nobody);
    expect(await deadLetters.count()).toBe(2);
    for (const { key = '' } of [globex, nobody])
      expect(await admitted(store, key)).toBe('dead-lettered');
  });

  test.each([
    ['--all', ['--all'], 'globex (40), acme (1)'],
    ['a filter', ['--event', 'call:completed'], 'globex (40), acme (1)'],
    ['an id', [], 'acme (1)'],
  ])('without --tenant, %s is refused once if letters have one', async (_title, filter, named) => {
    const made = await twoTenants();
    const { deadLetters, env, ran, letterOf, argv } = made;
    await fill(made, 39, { tenant: 'globex' });
    const given = filter.length > 0 ? filter : [letterOf('acme').id];
    for (const json of [[], ['--json']]) {
      const refused = await run([...redrive, ...given, ...argv('acme'), ...json], { env });
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(`tenants: ${named}. Nothing was sent.`);
      expect(refused.stderr).toContain('--tenant NAME');
      expect(refused.stderr.trim().split('\n').length).toBeLessThanOrEqual(4);
    }
    expect(ran).toEqual([]);
    expect(await deadLetters.count()).toBe(42);
  });

  test('list and show tell the tenant', async () => {
    const { env, letterOf } = await twoTenants();
    const listed = await run(['dead-letters', 'list'], { env });
    expect(listed.stdout).toMatch(/^failed last +id +tenant +event +error/);
    expect(listed.stdout).toMatch(/ globex +call:completed /);
    const ofGlobex = await run(['dead-letters', 'list', '--tenant', 'globex', '--json'], { env });
    expect(ofGlobex.records()).toMatchObject([{ tenant: 'globex' }]);
    const shown = await run(['dead-letters', 'show', letterOf('globex').id], { env });
    expect(shown.stdout).toMatch(/^tenant +globex$/m);
  });
});
