import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type Simulator, startSimulator } from '@call-webhooks/simulator';
import { closing } from './support/dead-letters.ts';
import { run, start } from './support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-simulate-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ready {
  readonly url: string;
  readonly secrets: readonly { ruleId: string; actionId: string; secret: string }[];
}

describe('what simulate prints when it is ready', () => {
  const file = join(folder, 'secrets');
  const FLAGS = ['simulate', '--port', '0', '--seed', '7'];
  const TWO = ['-f', '9/one', '--forward-to', 'http://localhost:9/two', '-f', '9/one'];
  const NAMES = {
    'call:started': 'A teammate starts a call',
    'call:completed': 'A teammate finishes a call',
    'call:recording-available': 'Call recording webhook',
  };
  /** There is one recording webhook, and a URL that is given twice counts once. */
  const ACTIONS = [
    ['call:started', 'http://127.0.0.1:9/one'],
    ['call:completed', 'http://127.0.0.1:9/one'],
    ['call:recording-available', 'http://127.0.0.1:9/one'],
    ['call:started', 'http://localhost:9/two'],
    ['call:completed', 'http://localhost:9/two'],
  ] as const;

  /** What it has printed until it was ready. */
  async function printed(argv: readonly string[], ready: string) {
    const running = start([...FLAGS, ...argv], { columns: 120 });
    await running.until(ready);
    running.stop();
    expect(await running.code).toBe(130);
    return running;
  }

  test('for scripts, and in the file of --secret-out', async () => {
    const flags = [...TWO, '--clock', 'manual', '--secret-out', file, '--json'];
    const told = await printed(flags, '"ready"');
    expect(told.stderr()).toBe('');
    const { url, secrets, ...record } = JSON.parse(told.stdout()) as Ready;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const id: unknown = expect.stringMatching(/^[\da-f]{24}$/);
    expect(secrets).toEqual(
      ACTIONS.map(([trigger, receiver]) => ({
        ...{ ruleId: id, rule: NAMES[trigger], trigger, actionId: id, url: receiver },
        secret: expect.stringMatching(/^whsec_[A-Za-z\d+/]{32}$/),
      })),
    );
    expect(new Set(secrets.flatMap((one) => [one.ruleId, one.actionId, one.secret])).size).toBe(15);
    expect(record).toEqual({
      ...{ type: 'ready', apiToken: id, seed: '7' },
      rules: ACTIONS.map(([trigger, receiver], at) => ({
        _id: secrets[at]?.ruleId,
        kind: trigger === 'call:recording-available' ? 'recording-webhook' : 'rule',
        ...{ name: NAMES[trigger], trigger, scope: 'workspace', state: 'active' },
        ownerId: '5f0200000000000000000001',
        actions: [{ _id: secrets[at]?.actionId, type: 'webhook', url: receiver, signed: true }],
      })),
    });
    const lines = ACTIONS.map(
      ([trigger], at) => `${secrets[at]?.secret} # ${trigger}, action ${secrets[at]?.actionId}\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
  });

  test('for people: where it is, the secret of each action, and the lines of an .env file', async () => {
    const script = await printed([...TWO, '--clock', 'manual', '--json'], '"ready"');
    const { secrets } = JSON.parse(script.stdout()) as Ready;
    const people = await printed([...TWO, '--clock', 'manual'], 'Press Ctrl-C');
    expect(people.stdout()).toBe('');
    const [, url = ''] = /inspector {2}(\S+)/.exec(people.stderr()) ?? [];
    const [started, completed, recording, ...second] = secrets.map(({ secret }) => secret);
    expect(people.stderr().split('\n')).toEqual([
      ...['The simulator is running.', '', `inspector  ${url}`, `REST API   ${url}/v1`],
      ...[
        expect.stringMatching(/^API token {2}[\da-f]{24}$/),
        'seed       7',
        'clock      manual',
        '',
      ],
      ...ACTIONS.flatMap(([trigger, receiver], at) => [
        ...[`event           ${trigger}`, `receiver        ${receiver}`],
        `rule            ${secrets[at]?.ruleId} (${NAMES[trigger]})`,
        ...[
          `action          ${secrets[at]?.actionId}`,
          `signing secret  ${secrets[at]?.secret}`,
          '',
        ],
      ]),
      "For the receiver's .env file:",
      `CALL_WEBHOOK_SECRET=${[started, completed, ...second].join(',')}`,
      ...[`RECORDING_WEBHOOK_SECRET=${recording}`, ''],
      `Place a call: npx call-webhooks trigger call --simulator ${new URL(url).port}`,
      ...['Press Ctrl-C to stop.', '', ''],
    ]);
  });

  test('without a receiver: how to add one', async () => {
    const told = await printed([], 'Press Ctrl-C');
    const [, url = ''] = /inspector {2}(\S+)/.exec(told.stderr()) ?? [];
    expect(told.stderr().split('\n').slice(6)).toEqual([
      ...['clock      real', ''],
      `Add a receiver: npx call-webhooks rules create --url 3000/hook --simulator ${new URL(url).port}`,
      ...['Press Ctrl-C to stop.', '', ''],
    ]);
  });

  test('a port that is in use is exit code 3, and an unknown mode of chaos 2', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const used = await run(['simulate', '--port', port]);
    other.close();
    expect([used.code, used.stdout, used.stderr]).toEqual([
      ...[3, ''],
      `error: Port ${port} is in use, perhaps by another simulator.\nfix:   Stop it, or use any free port: --port 0\n`,
    ]);
    const wrong = await run([...FLAGS, '--chaos', 'lightning=1']);
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
      ...[2, ''],
      expect.stringMatching(
        /^error: chaos: There is no field "lightning"\. .*\nfix: {3}Correct this option\. For all options: npx call-webhooks simulate --help\n$/,
      ),
    ]);
  });
});

describe('rotate, in the simulator', () => {
  async function setup() {
    const simulator: Simulator = await startSimulator({ clock: 'manual', seed: 7 });
    closing.push(() => simulator.close());
    const [one, two] = (['call:started', 'call:completed'] as const).map((trigger) =>
      simulator.rules.create({ trigger, actions: [{ url: 'http://127.0.0.1:9/hook' }] }),
    );
    const ruleId = String(two?._id);
    const actionId = String(two?.actions[0]?._id);
    const secretOf = (id: string) => String(simulator.secrets.get(id)?.current);
    const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url };
    const rotate = (...argv: string[]) =>
      run(['rotate', ruleId.slice(0, 6), actionId.slice(0, 6), ...argv], { env });
    const other = secretOf(String(one?.actions[0]?._id));
    return { simulator, ruleId, actionId, other, secret: () => secretOf(actionId), rotate, env };
  }

  test('prints the new secret only if it is asked for, for people and as a record', async () => {
    const { ruleId, actionId, secret, rotate } = await setup();
    const before = secret();
    expect(await rotate('--show-secret', '--yes')).toMatchObject({
      ...{ code: 0, stdout: `${secret()}\n`, stderr: '' },
    });
    expect(secret()).not.toBe(before);
    const shown = await rotate('--show-secret', '--yes', '--json');
    expect(shown.records()).toEqual([{ ruleId, actionId, rotated: true, secret: secret() }]);
    const file = join(folder, 'quiet');
    const quiet = await rotate('--secret-out', file, '--yes', '--json');
    expect(quiet.records()).toEqual([{ ruleId, actionId, rotated: true, file }]);
    expect(await rotate('--secret-out', file, '--yes')).toMatchObject({
      ...{ code: 0, stdout: `rotated  ${actionId}\n` },
      stderr: `The new secret is the first line of ${file}.\n`,
    });
  });

  test('ends the old secret of this action in ten minutes, and no secret later than the file says', async () => {
    const { actionId, secret, other, rotate } = await setup();
    const [early, late, named] = ['e', 'l', 'n'].map((text) => `whsec_${text.repeat(32)}`);
    const [soon, then] = [60_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
    const file = join(folder, 'several');
    const old = secret();
    const lines = [
      `${old} # of the CRM`,
      `${early} # action ${actionId} until ${soon}`,
      `${late} # action ${actionId} until ${then}`,
      ...[`${named} # action other`, other],
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const from = Date.now();
    const { code, stderr } = await rotate('--secret-out', file, '--yes');
    expect(code).toBe(0);
    const [first, second, third, fourth, ...rest] = readFileSync(file, 'utf8').split('\n');
    expect(first).toBe(`${secret()} # of the CRM action ${actionId}`);
    const ends = [second, fourth].map((line = '') => Date.parse(line.split(' until ')[1] ?? ''));
    for (const end of ends) {
      expect(end).toBeGreaterThanOrEqual(from + 600_000);
      expect(end).toBeLessThanOrEqual(Date.now() + 600_000);
    }
    expect(second).toMatch(`${old} # of the CRM action ${actionId} until `);
    expect([third, ...rest]).toEqual([lines[1], lines[3], other, '']);
    expect(stderr.replaceAll(/\s+/g, ' ')).toBe(
      `The new secret is the first line of ${file}. 1 secret in this file names no action, and stays valid: remove the old secret of this action after ten minutes. To automate this, add the action to each secret: whsec_… # action ID `,
    );
  });

  test.each([
    [[], 'The new secret would be lost.', 'Pass --secret-out FILE or --show-secret.'],
    [['--show-secret'], 'The rotation is not confirmed.', 'Pass --yes to rotate the secret now.'],
  ])('with %j rotates nothing: exit code 2', async (argv, message, fix) => {
    const { secret, rotate } = await setup();
    const before = secret();
    const told = { code: 2, stdout: '', stderr: `error: ${message}\nfix:   ${fix}\n` };
    expect(await rotate(...argv)).toMatchObject(told);
    expect(secret()).toBe(before);
  });

  test.each([
    ['y', 0],
    ['n', 2],
    ['\r', 2],
    ['\u0003', 130],
  ])('asks a person, and does so for %j: exit code %d', async (typed, code) => {
    const { ruleId, actionId, simulator, secret, env } = await setup();
    const before = secret();
    const argv = ['rotate', ruleId, actionId, '--show-secret'];
    const asked = await run(argv, { env, terminal: true, columns: 300, typed });
    expect(asked.stderr).toContain(
      `Rotate the secret at ${simulator.url}? The next delivery will be signed with the new secret.`,
    );
    expect([asked.code, secret() === before]).toEqual([code, code !== 0]);
    if (code === 2) expect(asked.stderr).toContain('Nothing was rotated.');
  });
});
