import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startSimulator, type Simulator } from '@call-webhooks/simulator';
import { receiver, SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

const TOKEN = 'token-that-must-not-show';
const folder = mkdtempSync(join(tmpdir(), 'cli-'));
let simulator: Simulator;
let env: Record<string, string>;

beforeAll(async () => {
  simulator = await startSimulator({ apiToken: TOKEN, clock: 'manual', seed: 7, pageSize: 2 });
  env = { CALL_WEBHOOKS_BASE_URL: simulator.url, CALL_WEBHOOKS_API_TOKEN: TOKEN };
  for (const subject of ['first', '=cmd()', 'third \u001b[31m']) {
    const { _id } = simulator.messages.send({ subject, to: 'ada@example.com' });
    simulator.messages.record(_id, { action: 'opened' });
  }
});
afterAll(async () => {
  await simulator.close();
  rmSync(folder, { recursive: true });
});

const cli = (...argv: string[]) => run(argv, { env });

describe('without the URL of a service', () => {
  test('the running simulator is asked, whose API token needs no flag', async () => {
    const named = await run(['activity', '--all', '--json', '--simulator', simulator.url]);
    expect(named.records()).toHaveLength(3);
    const found = await run(['activity', '--json'], {
      env: { CALL_WEBHOOKS_SIMULATOR: simulator.url },
    });
    expect(found.records()).toHaveLength(2);
    const rather = await run(['calls', '--simulator', simulator.url], {
      env: { CALL_WEBHOOKS_BASE_URL: 'http://127.0.0.1:1', CALL_WEBHOOKS_API_TOKEN: TOKEN },
    });
    expect(rather).toMatchObject({ code: 0, stderr: expect.stringContaining('No calls found') });
  });

  test('and without a simulator, both ways out are named', async () => {
    const env = { CALL_WEBHOOKS_SIMULATOR: 'http://127.0.0.1:1' };
    const { code, stderr } = await run(['calls'], { env });
    expect(code).toBe(3);
    expect(stderr).toContain("The service's URL is not given. No simulator is running at");
    expect(stderr).toContain('Set CALL_WEBHOOKS_BASE_URL, pass --base-url, or start a simulator');
  });
});

describe('activity', () => {
  test('prints one page and the cursor of the next', async () => {
    const { code, stdout, stderr } = await cli('activity');
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(3);
    expect(stdout).toMatch(/^time +action +recipient/);
    expect(stdout).not.toContain('\u001b');
    const [, cursor = ''] = /--next (\S+)/.exec(stderr) ?? [];
    expect((await cli('activity', '--next', cursor, '--json')).records()).toHaveLength(1);
  });

  test('prints all pages as JSON', async () => {
    const { records } = await cli('activity', '--all', '--json');
    expect(records().map(({ action }) => action)).toEqual(['opened', 'opened', 'opened']);
  });

  test('the search is the argument, sent as it is written', async () => {
    expect((await cli('activity', 'type:opened', '--all', '--json')).records()).toHaveLength(3);
    expect((await cli('activity', '"first"', '--json')).records()).toHaveLength(1);
    expect((await cli('activity', 'third', 'type:opened', '--json')).records()).toHaveLength(1);
    const none = await cli('activity', 'type:clicked');
    expect(none).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No activity events'),
    });
  });

  test.each(['since:2026-01-01 since:2026-01-02', 'type:opend', '"first" type:opened'])(
    'a search that is none is exit code 2: %s',
    async (search) => {
      const { code, stderr } = await cli('activity', search);
      expect(code).toBe(2);
      expect(stderr).toContain('GET /v1/events responded with status 400');
    },
  );
});

describe('calls and recordings', () => {
  test('a call, and its recording in a file and a pipe', async () => {
    const { _id } = simulator.calls.place({ durationSeconds: 1 });
    await simulator.clock.runUntilIdle();
    expect((await cli('calls', '--json')).records()).toMatchObject([{ _id }]);
    const path = join(folder, 'call.wav');
    const { code, stdout, stderr } = await cli('recording', _id, '-o', path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(path);
    expect(readFileSync(path).toString('latin1', 0, 4)).toBe('RIFF');
    expect((await cli('recording', _id, '-o', path)).stderr).toContain('--force');
    expect((await cli('recording', _id, '-o', path, '--force')).code).toBe(0);
    expect((await cli('recording', _id, '-o', '-')).stdout.slice(0, 4)).toBe('RIFF');
  });

  test('a missing recording leaves no file', async () => {
    const path = join(folder, 'none.wav');
    const { code, stderr } = await cli('recording', 'nobody', '-o', path);
    expect(code).toBe(2);
    expect(stderr).toContain('No call has this id');
    expect(existsSync(path)).toBe(false);
  });
});

describe('the token', () => {
  test('a wrong token is named as the cause, and never shown', async () => {
    const { code, stdout, stderr } = await cli('activity', '--api-token', 'wrong-token');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.replace(/\s+/g, ' ')).toContain('the API token is wrong or missing');
    expect(stderr).toContain('CALL_WEBHOOKS_API_TOKEN');
    expect(stderr).not.toContain('wrong-token');
  });

  test('is not sent over plain http', async () => {
    const { code, stderr } = await cli('activity', '--base-url', 'http://service.example');
    expect(code).toBe(2);
    expect(stderr).toContain('http://service.example is plain http');
    expect(stderr).toContain('Use https.');
    expect(stderr).not.toContain(TOKEN);
  });

  test('from a file', async () => {
    const path = join(folder, 'token');
    writeFileSync(path, `${TOKEN}\n`);
    const given = { env: { CALL_WEBHOOKS_BASE_URL: simulator.url } };
    expect((await run(['activity', '--api-token-file', path], given)).code).toBe(0);
  });
});

describe('rotate', () => {
  const rule = () =>
    simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url: 'http://127.0.0.1:9/', secret: SECRET }],
    });

  test('into a file: the new secret first, then the old one until it expires', async () => {
    const { _id, actions } = rule();
    const action = String(actions[0]?._id);
    const path = join(folder, 'secrets');
    writeFileSync(path, `${SECRET} # action ${action}\n`);
    const { code, stdout } = await cli('rotate', _id, action, '--secret-out', path, '--yes');
    expect(code).toBe(0);
    const fresh = String(simulator.secrets.get(action)?.current);
    expect(stdout).not.toContain('whsec_');
    expect(readFileSync(path, 'utf8')).toMatch(
      new RegExp(
        `^${fresh.replaceAll('+', '\\+')} # action ${action}\n${SECRET} # action ${action} until `,
      ),
    );
    writeFileSync(path, `${fresh}\n`); // the simulator knows whose it is
    const known = ['--simulator', simulator.url, '--secret-out', path, '--yes'];
    expect((await cli('rotate', _id, action, ...known)).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toContain(`${fresh} # action ${action} until `);
    const yes = ['--simulator', simulator.url, '--yes'];
    const short = [_id.slice(0, 8), action.slice(0, 8)];
    const again = await cli('rotate', ...short, '--show-secret', ...yes);
    expect(again.stdout.trim()).toBe(simulator.secrets.get(action)?.current);
  });

  test('needs a place for the new secret, and a confirmation', async () => {
    const { _id, actions } = rule();
    const argv = ['rotate', _id, String(actions[0]?._id)];
    expect((await cli(...argv)).stderr).toContain('--secret-out');
    expect(
      (await cli(...argv, '--base-url', 'https://api.example.com', '--show-secret')).stderr,
    ).toContain('--yes');
    const unwritable = ['--yes', '--secret-out', join(folder, 'no/where')];
    expect((await cli(...argv, ...unwritable)).code).toBe(3);
    expect((await cli(...argv, ...unwritable, '--simulator', simulator.url)).code).toBe(3);
    const inSimulator = ['--simulator', simulator.url];
    expect(await cli(...argv, ...inSimulator)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The new secret would be lost.'),
    });
    for (const answer of ['n\n', 'y\n', ''])
      expect(
        await run([...argv, ...inSimulator, '--show-secret'], { env, stdin: answer }),
      ).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('The rotation is not confirmed.'),
      });
    expect(simulator.secrets.get(String(actions[0]?._id))?.rotations).toBe(0);
  });

  test('the secret of the recording webhook is rotated in the simulator, into a file too', async () => {
    const { _id, actions } = simulator.rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/' });
    const action = String(actions[0]?._id);
    const path = join(folder, 'recording');
    const old = String(simulator.secrets.get(action)?.current);
    writeFileSync(path, `${SECRET} # action other\n${old}\n`);
    const rotated = ['rotate', _id, action, '--yes', '--simulator', simulator.url];
    expect((await cli(...rotated, '-o', path)).stderr).toMatch(/^The new secret is the first line/);
    const fresh = String(simulator.secrets.get(action)?.current);
    expect(fresh).not.toBe(old);
    expect(readFileSync(path, 'utf8').split('\n')).toEqual([
      `${fresh} # action ${action}`,
      `${SECRET} # action other`,
      expect.stringMatching(/ # action .* until \d{4}-/),
      '',
    ]);
    const shown = await cli(...rotated, '--show-secret');
    expect(shown.stdout.trim()).toBe(simulator.secrets.get(action)?.current);
  });

  test('listen reads the file for every delivery: a rotation needs no restart', async () => {
    const { _id, actions } = rule();
    const path = join(folder, 'live');
    writeFileSync(path, `${SECRET}\n`);
    const listener = start(['listen', '--port', '0', '--secret-file', path, '--no-body']);
    await listener.until('Listening at');
    const [url = ''] = /http:\/\/\S+/.exec(listener.stderr()) ?? [];
    await cli('rotate', _id, String(actions[0]?._id), '--secret-out', path, '--yes');
    const send = ['send', 'call:started', '--to', url];
    expect((await run([...send, '--secret', SECRET])).code).toBe(0);
    expect((await run([...send, '--secret-file', path])).code).toBe(0);
    listener.stop();
    await listener.code;
  });
});

test('an invalid response of the service is exit code 3', async () => {
  const nonsense = await receiver(() => ({ status: 200, body: '<html>' }));
  const { code, stderr } = await cli(
    'activity',
    '--base-url',
    `http://127.0.0.1:${String(nonsense.port)}`,
  );
  expect(code).toBe(3);
  expect(stderr).not.toContain(TOKEN);
  await nonsense.close();
});

test('behind a proxy that Node ignores, a failure names it and what to do', async () => {
  const before = process.env['HTTPS_PROXY'];
  process.env['HTTPS_PROXY'] = 'http://user:hunter2@127.0.0.1:9';
  try {
    const proxied = {
      CALL_WEBHOOKS_BASE_URL: 'https://service.invalid',
      HTTPS_PROXY: process.env['HTTPS_PROXY'],
    };
    const { code, stderr } = await run(['calls'], { env: { ...env, ...proxied } });
    expect(code).toBe(3);
    expect(stderr).toContain('HTTPS_PROXY names the proxy http://127.0.0.1:9');
    expect(stderr).toContain('NO_PROXY');
    expect(stderr).not.toContain('hunter2');
  } finally {
    if (before === undefined) delete process.env['HTTPS_PROXY'];
    else process.env['HTTPS_PROXY'] = before;
  }
});

test('Ctrl-C in the middle of a long page prints no more of it', async () => {
  const results = Array.from({ length: 10_000 }, (_, at) => ({ _id: `call-${at}` }));
  const service = await receiver(() => ({ status: 200, body: JSON.stringify({ results }) }));
  const url = new URL(service.url).origin;
  const given = { env: { CALL_WEBHOOKS_BASE_URL: url, CALL_WEBHOOKS_API_TOKEN: 't' } };
  const program = start(['calls', '--json'], given);
  await program.until('call-0');
  program.stop();
  expect(await program.code).toBe(130);
  const printed = program.stdout().trimEnd().split('\n');
  expect(printed.length).toBeLessThan(1_000);
  expect(JSON.parse(printed.at(-1) ?? '')).toEqual(results[printed.length - 1]);
  expect(program.stderr()).toBe('');
  await service.close();
});

test('a list prints what it has read before a page fails', async () => {
  const service = await receiver(({ url }) =>
    new URL(url, 'http://service').searchParams.has('next')
      ? { status: 403 }
      : {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ results: [{ _id: 'call-1' }], next: 'page-2', hasNext: true }),
        },
  );
  const env = { CALL_WEBHOOKS_BASE_URL: new URL(service.url).origin, CALL_WEBHOOKS_API_TOKEN: 't' };
  try {
    const { code, stdout, stderr } = await run(['calls', '--all'], { env });
    expect(stdout).toMatch(/^_id.*\ncall-1/);
    expect(code).toBe(2);
    expect(stderr).toContain('error: ');
  } finally {
    await service.close();
  }
});

test.each([
  ['with a cursor', { next: 'page-2' }, true],
  ['with a cursor and hasNext', { next: 'page-2', hasNext: true }, true],
  ['with a cursor that it says leads nowhere', { next: 'page-2', hasNext: false }, false],
  ['without a cursor', { next: null, hasNext: false }, false],
])('a page %s: whether there are more', async (_what, more, isMore) => {
  const service = await receiver(() => ({
    ...{ status: 200, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ results: [{ _id: 'call-1' }], ...more }),
  }));
  const env = { CALL_WEBHOOKS_BASE_URL: new URL(service.url).origin, CALL_WEBHOOKS_API_TOKEN: 't' };
  const { code, stderr } = await run(['calls'], { env });
  await service.close();
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: isMore ? 'There are more results: pass --all, or --next page-2\n' : '',
  });
});

test('the cursor of the next page is printed as a shell takes it', async () => {
  const next = "a b'c;$d";
  const service = await receiver(() => ({
    ...{ status: 200, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ results: [{ _id: 'call-1' }], next, hasNext: true }),
  }));
  const env = { CALL_WEBHOOKS_BASE_URL: new URL(service.url).origin, CALL_WEBHOOKS_API_TOKEN: 't' };
  try {
    const { stdout, stderr } = await run(['calls', '-n', '7', '--next', next], { env });
    expect(stdout).toBe('_id\ncall-1\n');
    expect(stderr).toBe("There are more results: pass --all, or --next 'a b'\\''c;$d'\n");
    const [{ url } = { url: '' }] = service.received;
    const { searchParams } = new URL(url, service.url);
    expect(Object.fromEntries(searchParams)).toEqual({ limit: '7', next });
  } finally {
    await service.close();
  }
});
