import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { startSimulator } from '@call-webhooks/simulator';
import { assistant } from './support/assistant.ts';
import { closing, fill, setup } from './support/dead-letters.ts';
import { program } from './support/program.ts';
import { SECRET } from './support/receiver.ts';

/**
 * A receiver of two tenants, and the service of acme: three of its calls arrived, then its rule was paused,
 * and two more ended.
 */
async function acme() {
  const made = await setup({ tenant: ({ path }) => path.split('/')[2], secret: () => SECRET });
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: Date.now() - 3_600_000, patience: 10_000 },
  });
  closing.push(() => simulator.close());
  const rule = simulator.rules.create({
    ...{ trigger: 'call:completed', scope: 'workspace' },
    actions: [{ url: made.url.replace('/hook', '/hooks/acme'), secret: SECRET }],
  });
  const place = async (count: number) => {
    for (let made = 0; made < count; made++)
      simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance('2m');
    await simulator.events.settled();
  };
  await place(3);
  const [handled] = simulator.events.list();
  await waitFor(async () => (await made.store.log?.read())?.rows.length === 3);
  const env = {
    ...made.env,
    CALL_WEBHOOKS_BASE_URL: simulator.url,
    CALL_WEBHOOKS_API_TOKEN: simulator.apiToken,
  };
  const missTwo = async () => {
    simulator.rules.pause(rule._id);
    await place(2);
  };
  return { ...made, env, handled: handled!.callId, missTwo };
}

async function ended(argv: readonly string[], env: Record<string, string>) {
  const child = program(argv, env);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}

const DRY_RUN = ['reconcile', '--since', '2h', '--dry-run'];

describe('a receiver with tenants', () => {
  test('reconcile --dry-run warns if the API token lists the calls of somebody else', async () => {
    const { env } = await acme();
    const other = await startSimulator({
      ...{ clock: 'manual', seed: 2, startAt: Date.now() - 3_600_000 },
    });
    closing.push(() => other.close());
    other.calls.place({ durationSeconds: 20, recorded: false });
    await other.clock.advance('30m');
    const ofOther = {
      ...{ CALL_WEBHOOKS_BASE_URL: other.url, CALL_WEBHOOKS_API_TOKEN: other.apiToken },
    };
    const { code, stderr } = await ended([...DRY_RUN, '--tenant', 'acme'], { ...env, ...ofOther });
    expect(code).toBe(1);
    expect(stderr).toContain('The store knows none of these events.');
    expect(stderr).toContain('API token');
  });

  test('reconcile --dry-run ends with 1 if something was missed, and calls no known event missed', async () => {
    const { env, url, missTwo } = await acme();
    const refused = await ended(DRY_RUN, env);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('This receiver has tenants: acme.');
    expect(refused.stderr).toContain('Pass --tenant NAME');

    const calm = await ended([...DRY_RUN, '--tenant', 'acme'], env);
    expect(calm).toMatchObject({ code: 0, stderr: '' });
    expect(calm.stdout).toBe('3 calls: 0 events missed, 3 known, 0 failed\n');
    await missTwo();
    const missed = await ended([...DRY_RUN, '--tenant', 'acme'], env);
    expect(missed.code).toBe(1);
    expect(missed.stdout).toContain('5 calls: 2 events missed, 3 known, 0 failed\n');

    const typo = await ended([...DRY_RUN, '--tenant', 'acne'], env);
    expect(typo.stderr).toContain('no deliveries for tenant acne, only for acme.');
    const to = ['--to', url.replace('/hook', '/hooks/acme')];
    const sent = await ended(['reconcile', '--since', '2h', ...to], env);
    expect(sent).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^warning: This run is not recorded, .*has tenants: acme\./m),
    });
    const recorded = await ended(['reconcile', '--since', '2h', '--tenant', 'acme', ...to], env);
    expect(recorded).toMatchObject({ code: 0, stderr: '' });
    const nowhere = await ended(['reconcile', '--since', '2h', '--tenant', 'acme', ...to], {
      ...env,
      CALL_WEBHOOKS_STORE: '',
    });
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('for --dry-run') });
  }, 120_000);

  test('erase --forget-keys forgets what a duplicate of a handled call is known by, once it has the tenant', async () => {
    const { env, handled } = await acme();
    const erase = ['erase', '--call', handled, '--forget-keys', '--yes'];
    const refused = await ended(erase, env);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('This receiver has tenants: acme.');
    const erased = await ended([...erase, '--tenant', 'acme'], env);
    expect(erased).toMatchObject({ code: 0, stdout: 'Erased 1 outcome, 1 key.\n' });
  }, 120_000);

  test('redrive --all without --tenant ends with 2, and prints one refusal', async () => {
    const made = await setup();
    await fill(made, 300, { tenant: 'acme' });
    const refused = await ended(['dead-letters', 'redrive', '--all', '--to', made.url], made.env);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr.trim().split('\n')).toEqual([
      expect.stringContaining('300 of 300 dead letters belong to tenants: acme (300).'),
      expect.stringContaining('--tenant NAME'),
    ]);
    expect(await made.deadLetters.count()).toBe(300);
  }, 120_000);

  test('the tools of an assistant ask for the tenant, and find it by the call', async () => {
    const made = await acme();
    await made.missTwo();
    await fill(made, 1, { tenant: 'acme' });
    const { ask } = await assistant(['--to', '3000/hook'], made.env);
    const window = { since: '2h', until: '0s' };
    expect(await ask('reconcile_dry_run', window)).toMatchObject({
      isError: true,
      answer: {
        error: 'This receiver has tenants: acme.',
        fix: 'Pass the name of one as "tenant".',
      },
    });
    const { answer } = await ask('reconcile_dry_run', { ...window, tenant: 'acme' });
    expect(answer).toMatchObject({ seen: 5, missed: 2, known: 3 });

    const { answer: call } = await ask('call', { callId: made.handled });
    expect(call).toMatchObject({
      tenant: 'acme',
      events: [{ state: 'unknown' }, { eventName: 'call:completed', state: 'handled' }],
    });
    expect((await ask('call', { callId: 'nowhere' })).answer).toMatchObject({
      error: 'This receiver has tenants: acme.',
    });

    const { answer: groups } = await ask('dead_letters');
    const [{ id: cause } = { id: '' }] = groups.causes;
    expect((await ask('redrive_command', { cause })).answer).toMatchObject({
      error: expect.stringContaining('tenants: acme (1)'),
    });
    const { answer: command } = await ask('redrive_command', { cause, tenant: 'acme' });
    expect(command['command']).toContain(`--cause ${cause} --tenant acme --to`);
  });
});
