import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { grade } from '../src/grader/grade.ts';
import { DEFAULTS, GradedReceiver } from '../src/grader/receiver.ts';
import { faultyReceiver, type FaultyReceiver } from './support/faulty-receiver.ts';
import { closeRawServers, rawServer, silentServer } from './support/raw-server.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const env = { CALL_WEBHOOK_SECRET: SECRET };
const folder = mkdtempSync(join(tmpdir(), 'check-deep-'));
const started: FaultyReceiver[] = [];

afterEach(() => Promise.all([closeRawServers(), ...started.splice(0).map((one) => one.close())]));
afterAll(() => rmSync(folder, { recursive: true }));

async function receiver(...faults: string[]) {
  const one = await faultyReceiver([SECRET], faults);
  started.push(one);
  return one;
}
/** Quick checks. */
const ONLY = ['--only', 'signature,replays/forged-before', '--only', 'events/started'];

describe('check --deep', () => {
  test('prints what failed, why, and how to fix it, in 80 columns', async () => {
    const { url } = await receiver('forged', 'appended-byte');
    const argv = ['check', '--deep', '--to', url, ...ONLY];
    const { code, stdout, stderr } = await run(argv, { env, terminal: true, columns: 80 });
    expect(code).toBe(1);
    // Colors, as it is a terminal, and progress.
    expect(stdout).toContain('\u001b[');
    expect(stderr).toContain('of 2');
    const plain = stripVTControlCharacters(stdout);
    expect(plain).toMatch(/FAILED {3}signature +5 passed, 21 failed, 0 skipped\n/);
    expect(plain).toMatch(/^ +signature\/other-secret\n.*does not have: 200\.\n +Spec, /m);
    expect(plain).toContain('Fix: Compute the signature yourself');
    expect(plain).toMatch(/^1 skipped: it needs --run-handlers$/m);
    expect(plain).toMatch(/^5 passed, 22 failed, 1 skipped$/m);
    expect(plain.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('what each flag makes possible: all else is skipped, and says what it needs', async () => {
    const { url, effectsUrl } = await receiver();
    const [noSecret, noOthers] = ['it needs the signing secret', 'it needs several secrets'];
    const [noHandlers, noEffects] = ['it needs --run-handlers', 'it needs --effects'];
    const only = ['headers/none', 'signature/valid', 'secrets/others', 'events/odd-bodies'];
    const needs = async (flags: readonly string[], secret = SECRET) => {
      const argv = ['check', '--deep', '--json', '--to', url, ...flags];
      const checks = [...only, 'failures/retry'].join(',');
      const given = { env: { CALL_WEBHOOK_SECRET: secret } };
      const { records } = await run([...argv, '--only', checks], given);
      return Object.fromEntries(
        records()
          .filter(({ type }) => type === 'check')
          .map(({ check, result, saw }) => [check, result === 'skipped' ? saw : result]),
      ) as Record<string, unknown>;
    };
    const unsigned = { 'headers/none': 'pass', 'signature/valid': 'pass' };
    const events = (odd: string, retry: string) => ({
      ...{ 'events/odd-bodies': odd, 'failures/retry': retry },
    });
    expect(await needs([], '')).toEqual({
      ...{ 'headers/none': 'pass', 'signature/valid': noSecret, 'secrets/others': noSecret },
      ...events(noSecret, noSecret),
    });
    const one = { ...unsigned, 'secrets/others': noOthers };
    expect(await needs([])).toEqual({ ...one, ...events(noHandlers, noHandlers) });
    expect(await needs(['--run-handlers'])).toEqual({ ...one, ...events('pass', noEffects) });
    // Effects need handlers that run.
    for (const flags of [[], ['--run-handlers']])
      expect(await needs([...flags, '--effects', effectsUrl])).toEqual({
        ...{ ...one, ...events('pass', 'pass') },
      });
    expect(await needs([], `${SECRET},${generateSecret()}`)).toEqual({
      ...{ ...unsigned, 'secrets/others': 'fail', ...events(noHandlers, noHandlers) },
    });
  });

  test('--junit writes its file also if nothing failed', async () => {
    const { url } = await receiver();
    const junit = join(folder, 'passed.xml');
    const argv = ['check', '--to', url, '--only', 'signature/valid', '--junit', junit];
    expect((await run(argv, { env })).code).toBe(0);
    expect(readFileSync(junit, 'utf8')).toContain('tests="1" failures="0" errors="0" skipped="0"');
  });

  test('in a pipe there are no colors and no progress', async () => {
    const { url } = await receiver();
    const { code, stdout, stderr } = await run(['check', '--deep', '--to', url, ...ONLY], { env });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^For some minutes, status/),
    });
    expect(stderr).not.toContain('\u001b');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/ 0 failed, /);
  });

  test('--json and --junit have the same results', async () => {
    const { url } = await receiver('forged', 'call-started');
    const junit = join(folder, 'junit.xml');
    const files = ['--junit', junit, '--run-handlers', '--json'];
    const argv = ['check', '--deep', '--to', url, ...ONLY, ...files];
    const { code, records } = await run(argv, { env });
    expect(code).toBe(1);
    const failed = records()
      .filter(({ result }) => result === 'fail')
      .map(({ check }) => check);
    expect(failed).toContain('signature/other-secret');
    expect(failed).toContain('events/started');
    expect(records().at(-1)).toMatchObject({ type: 'result', failed: failed.length, skipped: 0 });

    const xml = readFileSync(junit, 'utf8');
    expect(xml.match(/<failure /g)).toHaveLength(failed.length);
    expect(xml).toContain('classname="signature.other-secret"');
    expect(xml).toContain(`failures="${String(failed.length)}"`);
  });

  test('a receiver that lacks one of the secrets fails also without --deep', async () => {
    const { url } = await receiver();
    const { code, stdout } = await run(['check', '--to', url], {
      env: { CALL_WEBHOOK_SECRET: `${SECRET},${generateSecret()}` },
    });
    expect(code).toBe(1);
    expect(stdout).toContain('for secret 2 of 2');
    expect(stdout).toContain('each webhook action has its own');
    expect((await run(['check', '--to', url], { env })).stdout).not.toContain('secrets/others');
  });

  test('without a secret, it says what is missing', async () => {
    const { url } = await receiver();
    const { code, stdout, stderr } = await run(['check', '--deep', '--to', url]);
    expect(code).toBe(0);
    expect(stdout).toContain('it needs the signing secret');
    expect(stderr).toContain('CALL_WEBHOOK_SECRET');
  });

  test('the header prefix is that of the receiver', async () => {
    const { url } = await receiver();
    const argv = ['check', '--deep', '--to', url, '--only', 'headers', '--header-prefix', 'X-Mine'];
    const { code, stdout } = await run(argv, { env });
    // This one expects another.
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAILED +signature/);
  });

  test('bad input, and nothing there', async () => {
    const { url } = await receiver();
    const check = (...argv: string[]) => run(['check', ...argv], { env });
    expect((await check('--deep')).stderr).toContain('--to');
    expect((await check('--deep', '--to', url, '--only', 'signatur')).stderr).toContain(
      'signature?',
    );
    expect((await check('--deep', '--to', '1/hook')).code).toBe(3);
    const wrong = await check('--deep', '--to', url, '--effects', url, '--only', 'duplicates');
    expect(wrong).toMatchObject({ code: 3, stdout: '' });
    expect(wrong.stderr).toContain('docs/conformance.md');
  });

  test('a receiver that never answers is an error', async () => {
    const { href } = await silentServer();
    const argv = ['check', '--deep', '--to', href, '--timeout', '200ms'];
    const { code, stderr } = await run(argv);
    expect(code).toBe(3);
    expect(stderr).toContain('never responded');
  });

  test('a receiver that refuses what is genuine: nothing else is judged, since it would mean nothing', async () => {
    const { url } = await receiver();
    const argv = ['check', '--deep', '--to', url, '--json', '--secret', generateSecret(), ...ONLY];
    const { code, records } = await run(argv);
    const found = records() as { type: string; check: string; result: string; saw: string }[];
    const judged = found.filter(({ result }) => result === 'fail' || result === 'pass');
    // Any secret is wrong for this one.
    expect(judged.map(({ check, result, saw }) => [check, result, saw])).toEqual([
      ['signature/valid', 'fail', '401'],
      ['signature/other-secret', 'pass', '401'],
    ]);
    const skipped = found.filter(({ result }) => result === 'skipped');
    expect([...new Set(skipped.map(({ saw }) => saw))]).toEqual([
      'the result would mean nothing: see signature/valid',
      'it needs --run-handlers',
    ]);
    const result = { type: 'result', passed: 1, failed: 1, skipped: skipped.length };
    expect([code, found.at(-1), skipped.length > 20]).toEqual([1, result, true]);
  });

  test('a connection that is closed refuses what is forged, and does not acknowledge what is genuine', async () => {
    // It answers unsigned requests alone.
    const { href } = await rawServer((socket) => {
      socket.on('data', (request: Buffer) => {
        if (/x-service-signature/i.test(request.toString('latin1'))) socket.resetAndDestroy();
        else socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
      });
    });
    const only = ['--only', 'signature/valid,signature/other-secret,headers/none'];
    const argv = ['check', '--deep', '--to', href, '--json', ...only];
    const { code, records } = await run(argv, { env });
    const judged = records().map(({ check, result, saw }) => [check, result, saw]);
    expect([code, judged.slice(0, -1)]).toEqual([
      1,
      [
        ['signature/valid', 'fail', 'ECONNRESET'],
        ['signature/other-secret', 'pass', 'ECONNRESET'],
        ['headers/none', 'pass', '401'],
      ],
    ]);
  });

  test('a receiver that stops answering ends it, and the error names the check', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      if (requests++ === 0) response.writeHead(401).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const to = `${String((server.address() as AddressInfo).port)}/hook`;
    const argv = ['check', '--deep', '--to', to, '--timeout', '300ms'];
    const { code, stdout, stderr } = await run(argv, { env });
    server.closeAllConnections();
    server.close();
    expect(code).toBe(3);
    expect(stdout).toContain('no response in time');
    expect(stderr).toContain('stopped responding after the check signature/valid');
  });

  test('a receiver that crashes ends it, and the error names the check', async () => {
    const { url, close } = await faultyReceiver([SECRET], []);
    const { signal } = new AbortController();
    const graded = new GradedReceiver({
      ...{ ...DEFAULTS, url, secret: SECRET, timeoutMs: 60_000, signal },
    });
    const grading = grade(
      graded,
      ({ id }) => id.startsWith('signature/'),
      ({ check }) => {
        if (check.id === 'signature/body-only') void close();
      },
    );
    await expect(grading).rejects.toThrow(
      /^Nothing is listening at .* The receiver stopped responding after the check signature\/./,
    );
  });
});

test('ids are unique, and every check has a reason and a fix', async () => {
  const { url } = await receiver();
  const records = (await run(['check', '--deep', '--to', url, '--json'])).records();
  const checks = records.filter(({ type }) => type === 'check');
  expect(checks.length).toBeGreaterThan(120);
  expect(new Set(checks.map(({ check }) => check)).size).toBe(checks.length);
  for (const { check, why, fix } of checks) {
    expect(check).toMatch(/^[a-z-]+\/[a-z0-9-]+$/);
    expect(fix).toMatch(/\.$/);
    expect(why).not.toEqual([]);
  }
});
