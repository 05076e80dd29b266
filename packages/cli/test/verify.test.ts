import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-verify-'));
afterAll(() => rmSync(folder, { recursive: true }));

const env = { CALL_WEBHOOK_SECRET: SECRET };
const BODY = '{"a":1}';
const ID = '5c6d7e8f-0000-4000-8000-000000000001';
const AT = 1_767_323_045;
const ANY_AGE = ['--tolerance', '300000000'];
/** By `openssl dgst -sha256 -mac HMAC`, of this id, time and body. */
const HEADERS = {
  'X-Service-Webhook-Id': ID,
  'X-Service-Timestamp': String(AT),
  'X-Service-Signature': 'v1,StxwuX0If+stuHZSYIo8CDh4D1EKXLiEsl9y9WK67/c=',
};
const linesOf = (headers: object, newLine = '\n') =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${String(value)}${newLine}`)
    .join('');

/** A file of headers. */
function file(name: string, headers: object, newLine?: string): string {
  const path = join(folder, name);
  writeFileSync(path, linesOf(headers, newLine));
  return path;
}

const verify = (argv: readonly string[], stdin?: string) =>
  run(['verify', ...argv], { env, columns: 300, ...(stdin !== undefined && { stdin }) });

describe('sign prints', () => {
  const sign = ['sign', '-d', BODY, '--webhook-id', ID, '--timestamp', String(AT)];

  test('the three headers of a request, for --headers of verify', async () => {
    const { code, stdout, stderr } = await run(sign, { env });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: linesOf(HEADERS), stderr: '' });
    const scripts = await run([...sign, '--json'], { env });
    expect(scripts.records()).toEqual([HEADERS]);
  });

  test('the headers of another prefix', async () => {
    const { stdout } = await run([...sign, '--header-prefix', 'X-Dialer'], { env });
    expect(stdout).toBe(linesOf(HEADERS).replaceAll('X-Service', 'X-Dialer'));
  });
});

describe('verify prints', () => {
  const headers = file('headers', HEADERS);

  test('when a body was signed, and its webhook id', async () => {
    const argv = ['--headers', headers, '-d', BODY, ...ANY_AGE];
    expect(await verify(argv)).toMatchObject({
      ...{ code: 0, stderr: '', stdout: `verified  signed 2026-01-02 03:04:05Z  ${ID}\n` },
    });
    expect((await verify([...argv, '--json'])).records()).toEqual([
      {
        ...{ verified: true, webhookId: ID, timestamp: '2026-01-02T03:04:05.000Z' },
        secretId: 'secret-a81f28ca',
      },
    ]);
    const crlf = ['--headers', file('crlf', HEADERS, '\r\n'), ...ANY_AGE];
    expect((await verify(crlf, BODY)).code).toBe(0);
  });

  test('a header of --header instead of that of the file, whatever the order', async () => {
    const other = file('other', { ...HEADERS, 'X-Service-Signature': 'v1,AAAA' });
    const signature = ['--header', `X-Service-Signature: ${HEADERS['X-Service-Signature']}`];
    const rest = ['-d', BODY, ...ANY_AGE];
    expect((await verify(['--headers', other, ...signature, ...rest])).code).toBe(0);
    expect((await verify([...signature, '--headers', other, ...rest])).code).toBe(0);
    const all = Object.entries(HEADERS).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    expect((await verify([...all, ...rest])).code).toBe(0);
    expect((await verify(['--headers', other, ...rest])).code).toBe(1);
  });

  const ADDED = 'a line feed was added at the end of the body, for example by echo or an editor';
  test.each([
    ['a line feed at its end', BODY, `${BODY}\n`, ADDED],
    ['CR LF at its end', BODY, `${BODY}\r\n`, ADDED],
    [
      'no line feed any more',
      `${BODY}\n`,
      BODY,
      'the line feed at the end of the body was removed',
    ],
    ['a BOM', BODY, `\ufeff${BODY}`, 'a byte order mark was added at the start of the body'],
    [
      'spaces',
      BODY,
      '{ "a": 1 }',
      'the body was parsed and written again with spaces: use the raw bytes',
    ],
    [
      'no spaces any more',
      '{\n  "a": 1\n}',
      BODY,
      'the body was parsed and written again without its spaces: use the raw bytes',
    ],
    [
      'CR LF',
      '{\n"a":\n1}',
      '{\r\n"a":\r\n1}',
      'the line endings of the body were changed to CR LF',
    ],
    ['another value', BODY, '{"a":2}', undefined],
    ['no JSON', BODY, 'a=1', undefined],
  ])('what changed a body that has %s', async (what, signed, changed, cause) => {
    const path = join(folder, what);
    const { stdout } = await run(['sign', '-d', signed], { env });
    writeFileSync(path, stdout);
    expect((await verify(['--headers', path], signed)).code).toBe(0);
    const people = await verify(['--headers', path], changed);
    expect([people.code, people.stderr]).toEqual([1, '']);
    const [first = '', ...rest] = people.stdout.split('\n');
    expect(first).toMatch(/^signature-mismatch {2}\S/);
    expect(rest).toEqual([...(cause === undefined ? [] : [`cause: ${cause}`]), '']);
    const [record] = (await verify(['--headers', path, '--json'], changed)).records();
    expect(record).toEqual({
      ...{ verified: false, code: 'signature-mismatch', message: expect.any(String) },
      ...(cause !== undefined && { cause }),
    });
  });

  test.each([
    [['--headers', headers, '-d', BODY], 'timestamp-out-of-tolerance'],
    [['-H', 'X-Other: 1', '-d', BODY], 'missing-header'],
    [
      ['--headers', headers, '-d', BODY, ...ANY_AGE, '--header-prefix', 'X-Dialer'],
      'missing-header',
    ],
  ])('why a request is refused that has another fault: %j', async (argv, code) => {
    const [record] = (await verify([...argv, '--json'])).records();
    expect(record).toEqual({ verified: false, code, message: expect.any(String) });
    expect((await verify(argv)).code).toBe(1);
  });

  test('that no headers are given, as bad input', async () => {
    expect(await verify(['-d', BODY])).toMatchObject({
      ...{ code: 2, stdout: '' },
      stderr:
        'error: No headers are given.\nfix:   Pass --headers FILE, or each one with --header.\n',
    });
  });
});
