import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { receiver, SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

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

const rotate = (...argv: string[]) => run(['rotate', 'rule', 'action', '--yes', ...argv], { env });
const respondWith = (body: object) => {
  respond = () => ({ status: 200, body: JSON.stringify(body) });
};

describe('a response with several secrets', () => {
  test('the one that the file does not have is the new one', async () => {
    respondWith({ previous: OLD, current: NEW });
    writeFileSync(file, `${OLD} # action action\n`);
    expect((await rotate('--secret-out', file)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(
      `${NEW} # action action\n${OLD} # action action until `,
    );
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
    expect(readFileSync(file, 'utf8')).toBe(`${OLD} # action action\n${NEW} # action action\n`);
  });

  test('--wire secretField names the new one', async () => {
    respondWith({ a: OLD, b: NEW });
    const { code, stdout } = await rotate('--show-secret', '--wire', 'secretField=b');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEW}\n` });
  });
});

test('the old secret of the action ends after ten minutes', async () => {
  respondWith({ secret: NEW });
  writeFileSync(file, `${OLD} # action action\n`);
  const before = Date.now();
  expect((await rotate('--secret-out', file)).code).toBe(0);
  const until = Date.parse(/until (\S+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? '');
  expect(until).toBeGreaterThanOrEqual(before + 600_000);
  expect(until).toBeLessThanOrEqual(Date.now() + 600_000);
});

test.each(['the service', 'the simulator'])(
  'an old secret whose end is known ends no later, and keeps one end: in %s',
  async (where) => {
    const simulator = await startSimulator({});
    const { _id, actions } = simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url: 'http://127.0.0.1:9/', secret: OLD }],
    });
    const isService = where === 'the service';
    const action = isService ? 'action' : actions[0]!._id;
    const [sooner, later] = [5, 60].map((minutes) =>
      new Date(Date.now() + minutes * 60_000).toISOString(),
    );
    const secret = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`;
    writeFileSync(
      file,
      [
        `${OLD} # current, action ${action}`,
        `${secret(4)} # action ${action} until ${sooner}`,
        `${secret(5)} # action ${action} until ${later}`,
        `${secret(6)} # action other until ${later}`,
      ].join('\n'),
    );
    respondWith({ secret: NEW });
    const before = Date.now();
    const argv = ['rotate', isService ? 'rule' : _id, action, '--yes', '--secret-out', file];
    const flags = isService ? [] : ['--simulator', simulator.url];
    expect((await run([...argv, ...flags], { env })).code).toBe(0);
    const after = Date.now();
    const lines = readFileSync(file, 'utf8').split('\n');
    const fresh = isService ? NEW : simulator.secrets.get(action)?.current;
    const [, inTenMinutes = ''] = / until (\S+)$/.exec(lines[1] ?? '') ?? [];
    expect(lines).toEqual([
      `${fresh} # current, action ${action}`,
      `${OLD} # current, action ${action} until ${inTenMinutes}`,
      `${secret(4)} # action ${action} until ${sooner}`,
      `${secret(5)} # action ${action} until ${inTenMinutes}`,
      `${secret(6)} # action other until ${later}`,
    ]);
    expect(Date.parse(inTenMinutes)).toBeGreaterThanOrEqual(before + 600_000);
    expect(Date.parse(inTenMinutes)).toBeLessThanOrEqual(after + 600_000);
    await simulator.close();
  },
);

describe('a file that has more than the old secret', () => {
  const OTHER = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
  const RECORDING = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
  beforeEach(() => {
    respondWith({ secret: NEW });
  });
  const rotated = async (content: string) => {
    writeFileSync(file, content);
    const { code, stderr } = await rotate('--secret-out', file);
    expect(code).toBe(0);
    return { text: readFileSync(file, 'utf8'), stderr };
  };

  test('keeps its other lines, and ends only the secret of this action', async () => {
    const before = [
      '# of the call actions',
      `${OTHER} # call:started, action other`,
      `${OLD} # call:completed, action action`,
      '',
      `${RECORDING} # recordings`,
      '# the end',
    ];
    const { text } = await rotated(`${before.join('\n')}\n`);
    const [first, ...lines] = text.split('\n');
    expect(first).toBe(`${NEW} # call:completed, action action`);
    const ended = lines.findIndex((line) => line.startsWith(OLD));
    expect(lines[ended]).toMatch(/^whsec_\S+ # call:completed, action action until \d{4}-\S+Z$/);
    lines[ended] = before[2] ?? '';
    expect(lines).toEqual([...before, '']);
  });

  test.each([
    ['in front of the action', '# CRM, action action', 'CRM, action action'],
    ['behind it', '# action action, CRM', 'action action, CRM'],
    ['with an old end', '# CRM action action until: 2099-01-31T12:00Z', 'CRM action action'],
  ])('keeps the label of the action %s, also for the new secret', async (_where, comment, note) => {
    const { text } = await rotated(`${OTHER} # other, action other\n${OLD} ${comment}\n`);
    const [first, second, third] = text.split('\n');
    expect([first, second]).toEqual([`${NEW} # ${note}`, `${OTHER} # other, action other`]);
    const [before, until = ''] = (third ?? '').split(' until ');
    expect(before).toBe(`${OLD} # ${note}`);
    expect(Math.abs(Date.parse(until) - Date.now() - 600_000)).toBeLessThan(60_000);
  });

  test('ends no secret whose action is unknown, and says so', async () => {
    const { text, stderr } = await rotated(`${OLD}\n${OTHER} # action other\n`);
    expect(text).toBe(`${NEW} # action action\n${OLD}\n${OTHER} # action other\n`);
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      '1 secret in this file names no action, and stays valid',
    );
  });

  test('of several secrets in a line, only that of this action ends', async () => {
    const { text } = await rotated(`${OLD}, ${OTHER} # action action\n${RECORDING}\n`);
    expect(text.split('\n')).toEqual([
      `${NEW} # action action`,
      expect.stringMatching(/ # action action until /),
      expect.stringMatching(/ # action action until /),
      RECORDING,
      '',
    ]);
  });

  test.each([
    [['simulate', '--port', '0', '--secret-out']],
    [['rotate', 'rule', 'action', '--secret-out']],
  ])('%j does not replace an .env file, and rotates nothing', async (argv) => {
    const content = `# the database\n\nDATABASE_URL=postgres://db\nCALL_WEBHOOK_SECRET=${OLD}\n`;
    writeFileSync(file, content);
    const { code, stderr } = await run([...argv, file], { env });
    expect(service.received).toEqual([]);
    expect(code).toBe(2);
    expect(stderr).toContain('which --secret-out would remove');
    expect(readFileSync(file, 'utf8')).toBe(content);
  });
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
  const rotating = start(['rotate', 'rule', 'action', '--show-secret', '--yes'], { env });
  respond = () => {
    rotating.stop();
    return undefined;
  };
  expect(await rotating.code).toBe(130);
  expect(rotating.stderr()).toContain('may have been rotated');
});

test.each([
  ['callsFeld=items', 'Did you mean callsField?'],
  ['callsField', 'is not of the form name=value'],
])('--wire %s is exit code 2, with a fix', async (pair, fix) => {
  const { code, stderr } = await run(['calls', '--wire', pair], { env });
  expect(code).toBe(2);
  expect(stderr).toContain(fix);
});

test('an unknown list shape names the flag, which then works', async () => {
  respondWith({ items: [{ _id: 'call-1' }] });
  const { code, stderr } = await run(['calls'], { env });
  expect(code).toBe(3);
  expect(stderr).toContain('Pass --wire callsField=items');
  const { records } = await run(['calls', '--wire', 'callsField=items', '--json'], { env });
  expect(records()).toEqual([{ _id: 'call-1' }]);
});
