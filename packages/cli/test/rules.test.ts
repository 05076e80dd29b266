import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Simulator, startSimulator } from '@call-webhooks/simulator';
import { run } from './support/run.ts';

const GIVEN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('rules', () => {
  const URL_1 = 'http://127.0.0.1:9/one';
  const URL_2 = 'http://127.0.0.1:9/two';
  let simulator: Simulator;
  let rule: string;

  beforeAll(async () => {
    simulator = await startSimulator({ clock: 'manual', seed: 7 });
  });
  afterAll(() => simulator.close());
  beforeEach(() => {
    for (const { _id } of simulator.rules.list()) simulator.rules.remove(_id);
    const created = simulator.rules.create({
      trigger: 'call:completed',
      actions: [{ url: URL_1, signed: false }],
    });
    rule = created._id;
  });

  const cli = (...argv: string[]) =>
    run(['rules', ...argv], { env: { CALL_WEBHOOKS_SIMULATOR: simulator.url } });

  test('remove removes a rule', async () => {
    const { code, stdout } = await cli('remove', rule);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `removed  ${rule}\n` });
    expect(simulator.rules.list()).toEqual([]);
  });

  test('trigger --wait is exit code 2 when no rule sends the event, with a fix', async () => {
    const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url };
    const trigger = () => run(['trigger', 'call:started', '--wait'], { env });
    const other = await trigger();
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('No rule sends this event.');
    simulator.rules.remove(rule);
    const none = await trigger();
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('Create them: npx call-webhooks rules create');
  });

  test('create says that it moved the recording webhook, of which there is one', async () => {
    const create = (port: number) => cli('create', '--url', `http://127.0.0.1:${String(port)}/x`);
    expect((await create(3001)).stderr).not.toContain('Its URL was');
    expect((await create(3002)).stderr).toContain('Its URL was http://127.0.0.1:3001/x before.');
  });

  test.each([
    [
      'three were generated',
      [],
      {},
      '3 secrets were generated, and your receiver needs all of them.',
    ],
    [
      'one was',
      ['--trigger', 'call:started'],
      {},
      '1 secret was generated, and your receiver needs it.',
    ],
    ['some were', [], { CALL_WEBHOOK_SECRET: GIVEN }, '2 secrets were generated'],
    ['it was given', ['--trigger', 'call:started', '--secret', GIVEN], {}, undefined],
    ['it is printed', ['--show-secret'], {}, undefined],
    ['there is none', ['--unsigned'], {}, undefined],
  ])('create says how to see the secrets: %s', async (_what, flags, more, told) => {
    const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url, ...more };
    const { stderr } = await run(['rules', 'create', '--url', URL_1, ...flags], { env });
    if (told === undefined) expect(stderr).not.toContain('generated');
    else expect(stderr).toContain(told);
    expect(stderr.includes('npx call-webhooks rules list --show-secret')).toBe(told !== undefined);
    expect(stderr).not.toContain('whsec_');
  });

  test('list --show-secret says on stderr whose each secret is', async () => {
    const secret = GIVEN;
    const [one, two] = (['call:started', 'call:completed'] as const).map((trigger, at) =>
      simulator.rules.create({ trigger, actions: [{ url: URL_2, ...(at === 0 && { secret }) }] }),
    );
    const first = simulator.secrets.get(String(two?.actions[0]?._id))?.current;
    const { stdout, stderr } = await cli('list', '--show-secret');
    expect(stdout).toBe(`${secret}\n${first}\n`);
    const unsigned = simulator.rules.list().find(({ _id }) => _id === rule);
    expect(stderr.trim().split('\n')).toEqual([
      `unsigned: call:completed, rule ${rule}, action ${unsigned?.actions[0]?._id}`,
      `secret 1: call:started, rule ${one?._id}, action ${one?.actions[0]?._id}`,
      `secret 2: call:completed, rule ${two?._id}, action ${two?.actions[0]?._id}`,
    ]);
    expect((await cli('list', '--show-secret', '--json')).stderr).toBe('');
  });

  test('list --show-secret prints each secret once, for scripts', async () => {
    const signed = simulator.rules.create({ trigger: 'call:started', actions: [{ url: URL_2 }] });
    const id = String(signed.actions[0]?._id);
    const secret = String(simulator.secrets.get(id)?.current);
    expect((await cli('list', '--show-secret')).stdout).toBe(`${secret}\n`);
    const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url };
    const atTerminal = await run(['rules', 'list', '--show-secret'], { env, terminal: true });
    expect(stripVTControlCharacters(atTerminal.stdout)).toContain(
      `${secret} # call:started, rule ${signed._id}, action ${id}\n`,
    );
    expect((await cli('list', '--show-secret', '--json')).records()).toEqual([
      expect.objectContaining({ ruleId: rule, secret: null }),
      expect.objectContaining({
        ruleId: signed._id,
        actionId: id,
        secret,
        trigger: 'call:started',
      }),
    ]);
    expect((await cli('list')).stdout).not.toContain('whsec_');
  });

  test('list --show-secret prints a secret that several actions share once, and as records for each', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    simulator.rules.remove(rule);
    for (const trigger of ['call:started', 'call:completed'] as const)
      simulator.rules.create({
        trigger,
        actions: [
          { url: URL_1, secret },
          { url: URL_2, secret },
        ],
      });
    expect((await cli('list', '--show-secret')).stdout).toBe(`${secret}\n`);
    const { records } = await cli('list', '--show-secret', '--json');
    expect(records().map((one) => [one['trigger'], one['url'], one['secret']])).toEqual([
      ['call:started', URL_1, secret],
      ['call:started', URL_2, secret],
      ['call:completed', URL_1, secret],
      ['call:completed', URL_2, secret],
    ]);
  });

  test.each([
    [['remove', 'nope'], 'There is no rule nope.'],
    [['pause', 'nope'], 'There is no rule nope.'],
    [['create', '--url', 'https://example.com'], '--allow-external'],
    [['create', '--url', '3000/hook', '--payload', '{}'], 'needs a call event'],
  ])('%j is exit code 2, with a fix', async (argv, message) => {
    const { code, stderr } = await cli(...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain('fix:');
  });
});
