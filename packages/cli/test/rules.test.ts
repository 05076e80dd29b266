import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Simulator, startSimulator } from '@call-webhooks/simulator';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

describe('rules', () => {
  const URL_1 = 'http://127.0.0.1:9/one';
  const URL_2 = 'http://127.0.0.1:9/two';
  let simulator: Simulator;
  let rule: string;
  let action: string;

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
    action = String(created.actions[0]?._id);
  });

  const cli = (...argv: string[]) =>
    run(['rules', ...argv], { env: { CALL_WEBHOOKS_SIMULATOR: simulator.url } });

  test('update changes the given fields and keeps the others', async () => {
    const argv = ['update', rule.slice(0, 6), '--trigger', 'call:started', '--scope', 'workspace'];
    expect((await cli(...argv, '--name', 'Mine')).code).toBe(0);
    const changed = { trigger: 'call:started', scope: 'workspace', name: 'Mine' };
    expect(simulator.rules.get(rule)).toMatchObject(changed);
    expect((await cli('update', rule, '--name', 'Yours')).stdout).toContain('call:started');
    expect(simulator.rules.get(rule)).toMatchObject({ ...changed, name: 'Yours' });
  });

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
    expect(none.stderr).toContain('Create them: call-webhooks rules create');
  });

  test('an unsigned action is recreated with a secret', async () => {
    expect((await cli('remove-action', action.slice(0, 6))).code).toBe(0);
    expect(simulator.rules.get(rule).actions).toEqual([]);
    const { code, stdout } = await cli('add-action', rule, '--url', URL_2, '--show-secret');
    expect(code).toBe(0);
    const [added] = simulator.rules.get(rule).actions;
    expect(added).toMatchObject({ url: URL_2, signed: true });
    expect(stdout).toContain(String(simulator.secrets.get(String(added?._id))?.current));
  });

  test('update-action changes the URL, the payload and the secret, each alone', async () => {
    const current = () => simulator.rules.get(rule).actions[0];
    await cli('update-action', action, '--url', URL_2);
    expect(current()).toMatchObject({ _id: action, url: URL_2, signed: false });
    await cli('update-action', action, '--payload', '{"id":"{{callId}}"}');
    expect(current()).toMatchObject({ url: URL_2, payload: { id: '{{callId}}' } });
    await cli('update-action', action, '--no-payload');
    expect(current()).not.toHaveProperty('payload');
    const { stdout } = await cli('update-action', action, '--signed', '--secret', SECRET);
    expect(stdout).not.toContain(SECRET);
    expect(simulator.secrets.get(action)?.current).toBe(SECRET);
  });

  test('a secret in the environment does not change an action', async () => {
    const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url, CALL_WEBHOOK_SECRET: SECRET };
    await run(['rules', 'update-action', action, '--signed'], { env });
    const before = simulator.secrets.get(action)?.current;
    await run(['rules', 'update-action', action, '--url', URL_2], { env });
    expect(simulator.secrets.get(action)?.current).toBe(before);
    expect(before).not.toBe(SECRET);
  });

  test.each([
    [['update', 'RULE'], 'No change is given.'],
    [['update-action', 'ACTION'], 'No change is given.'],
    [['remove', 'nope'], 'There is no rule nope.'],
    [['remove-action', 'nope'], 'There is no action nope.'],
    [['update-action', 'ACTION', '--signed', '--unsigned'], 'exclude each other'],
    [['update-action', 'ACTION', '--url', 'https://example.com'], '--allow-external'],
  ])('%j is exit code 2, with a fix', async (argv, message) => {
    const given = argv.map((word) => (word === 'RULE' ? rule : word === 'ACTION' ? action : word));
    const { code, stderr } = await cli(...given);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain('fix:');
  });

  test('a rule of one user is created on request', async () => {
    const argv = ['create', '--url', URL_2, '--trigger', 'call:started', '--json'];
    expect((await cli(...argv)).records()).toMatchObject([{ scope: 'workspace' }]);
    expect((await cli(...argv, '--scope', 'user')).records()).toMatchObject([{ scope: 'user' }]);
  });
});
