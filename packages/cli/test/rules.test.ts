import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Simulator, startSimulator } from '@call-webhooks/simulator';
import { receiver, SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

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

describe('rotate', () => {
  const OLD = SECRET;
  const NEW = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  const file = join(folder, 'secrets');
  let service: Awaited<ReturnType<typeof receiver>>;
  let respond: () => { status: number; body: string } | undefined;
  let env: Record<string, string>;

  beforeEach(async () => {
    service = await receiver(() => respond() ?? { status: 200 });
    env = {
      CALL_WEBHOOKS_BASE_URL: `http://127.0.0.1:${String(service.port)}`,
      CALL_WEBHOOKS_API_TOKEN: 'token',
    };
  });
  afterEach(async () => {
    await service.close();
    rmSync(file, { force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const rotate = (...argv: string[]) => run(['rotate', 'rule', 'action', ...argv], { env });
  const respondWith = (body: object) => {
    respond = () => ({ status: 200, body: JSON.stringify(body) });
  };

  describe('a response with several secrets', () => {
    test.each([
      ['the current of two', { previous: OLD, current: NEW }],
      [
        'the one of this action in a whole rule',
        {
          actions: [
            { _id: 'other', secret: OLD },
            { _id: 'action', secret: NEW },
          ],
        },
      ],
    ])('%s is printed and saved', async (_what, body) => {
      respondWith(body);
      expect((await rotate('--show-secret')).stdout).toBe(`${NEW}\n`);
      expect((await rotate('--secret-out', file)).code).toBe(0);
      expect(readFileSync(file, 'utf8')).toBe(`${NEW}\n`);
    });

    test('if it is unclear which is new, --show-secret prints all, and a file keeps all', async () => {
      respondWith({ a: OLD, b: NEW });
      const shown = await rotate('--show-secret');
      expect(shown).toMatchObject({ code: 3, stdout: '' });
      expect(shown.stderr).toContain(`a: ${OLD}\nb: ${NEW}\n`);
      const saved = await rotate('--secret-out', file);
      expect(saved).toMatchObject({ code: 3, stdout: '' });
      expect(saved.stderr).not.toContain('whsec_');
      expect(saved.stderr).toContain('--wire secretField=PATH');
      expect(readFileSync(file, 'utf8')).toBe(`${OLD}\n${NEW}\n`);
    });

    test('--wire secretField names the new one', async () => {
      respondWith({ a: OLD, b: NEW });
      const { code, stdout } = await rotate('--show-secret', '--wire', 'secretField=b');
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEW}\n` });
    });
  });

  test('an .env file is refused before anything is rotated: its variables would be lost', async () => {
    const content = `DATABASE_URL=postgres://db\nCALL_WEBHOOK_SECRET=${OLD}\n`;
    writeFileSync(file, content);
    const { code, stderr } = await rotate('--secret-out', file);
    expect(code).toBe(2);
    expect(stderr).toContain('which --secret-out would remove');
    expect(service.received).toEqual([]);
    const simulated = await run(['simulate', '--port', '0', '--secret-out', file]);
    expect(simulated.code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  test('a secret that cannot be saved is printed', async () => {
    const gone = mkdtempSync(join(tmpdir(), 'cli-'));
    respond = () => {
      rmSync(gone, { recursive: true });
      return { status: 200, body: JSON.stringify({ secret: NEW }) };
    };
    const { code, stdout, stderr } = await rotate('--secret-out', join(gone, 'secrets'));
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`The new secret: ${NEW}\n`);
    expect(stderr).toContain('fix:   Save the new secret where your receiver reads it.');
  });

  test('Ctrl-C during a rotation says that the secret may have been rotated', async () => {
    const rotating = start(['rotate', 'rule', 'action', '--show-secret'], { env });
    respond = () => {
      rotating.stop();
      return undefined;
    };
    expect(await rotating.code).toBe(130);
    expect(rotating.stderr()).toContain('may have been rotated');
  });

  test.each([
    ['callsFeld=items', 'Did you mean callsField?'],
    ['callsField', 'Example: callsField=items'],
  ])('--wire %s is exit code 2, with a fix', async (pair, fix) => {
    const { code, stderr } = await run(['calls', '--wire', pair], { env });
    expect(code).toBe(2);
    expect(stderr).toContain(fix);
  });

  test('an unknown list shape names the flag, which then works', async () => {
    respondWith({ items: [{ _id: 'call-1' }] });
    const { code, stderr } = await run(['calls'], { env });
    expect(code).toBe(3);
    expect(stderr).toContain('Pass --wire callsField=NAME.');
    const { records } = await run(['calls', '--wire', 'callsField=items', '--json'], { env });
    expect(records()).toEqual([{ _id: 'call-1' }]);
  });

  test('a sequence is searched by name or id', async () => {
    respondWith({ results: [] });
    await run(['events', '--sequence', '0123456789abcdef01234567'], { env });
    await run(['events', '--sequence-id', '7'], { env });
    const searches = service.received.map(({ url }) => new URL(url, 'http://x').searchParams);
    expect(searches.map((one) => one.get('search'))).toEqual([
      'sequence:"0123456789abcdef01234567"',
      'sequence:7',
    ]);
  });
});
