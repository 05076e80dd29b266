import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isSigned, receiver, SECRET } from './support/receiver.ts';
import { run, start, type Run } from './support/run.ts';

const env = { CALL_WEBHOOK_SECRET: SECRET };
const running: Run[] = [];
let behind: Awaited<ReturnType<typeof receiver>>;
let answer: { status: number; headers?: Record<string, string>; body?: string };

beforeEach(async () => {
  answer = { status: 200 };
  behind = await receiver(() => answer);
});
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.stop();
    expect(await one.code).toBe(130);
  }
  await behind.close();
});

async function listening(...flags: string[]) {
  const one = start(['listen', '--port', '0', '--json', ...flags], { env });
  running.push(one);
  await one.until('"ready"');
  const { url } = JSON.parse(one.stdout().split('\n')[0] ?? '') as { url: string };
  const arrivals = () =>
    one
      .stdout()
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...one, url, arrivals };
}
const send = (url: string, ...more: string[]) =>
  run(['send', 'call:completed', '--to', url, ...more], { env });

describe('listen', () => {
  test('responds correctly to every probe of check', async () => {
    const { url, arrivals } = await listening();
    const { code, records } = await run(['check', '--to', url, '--json'], { env });
    expect(code).toBe(0);
    expect(records().map(({ result }) => result)).toEqual(Array(8).fill('ok'));
    expect(arrivals().map(({ outcome }) => outcome)).toEqual([
      'method-not-allowed',
      'missing-header',
      'signature-mismatch',
      'timestamp-out-of-tolerance',
      'timestamp-out-of-tolerance',
      'signature-mismatch',
      'handled',
      'replayed',
    ]);
  });

  test('forwards the bytes and the signature unchanged', async () => {
    const { url } = await listening('--forward-to', behind.url);
    const data = '{ "eventName" : "call:completed",\r\n "n": 1.0 }';
    const odd = ['-H', 'constructor: x', '-H', '__proto__: y'];
    expect((await send(url, '--data', data, '-H', 'X-Tenant: Blue', ...odd)).code).toBe(0);
    const [one] = behind.received;
    expect(one && isSigned(one)).toBe(true);
    expect(String(one?.body)).toBe(data);
    expect(one?.rawHeaders).toEqual(expect.arrayContaining(['X-Tenant', 'X-Service-Signature']));
    expect(one?.headers.host).toBe(`127.0.0.1:${String(behind.port)}`);
  });

  test.each([404, 410, 302, 307])(
    '%d of the server behind becomes 503, with a warning',
    async (status) => {
      answer = { status, headers: { location: 'http://127.0.0.1:1/' } };
      const { url, stderr, arrivals } = await listening('--forward-to', behind.url);
      const { records } = await send(url, '--json');
      expect(records()).toMatchObject([{ response: { status: 503 } }]);
      expect(stderr()).toContain(`warning: The server answered ${String(status)}`);
      expect(arrivals()).toMatchObject([{ status: 503, forwarded: { response: String(status) } }]);
    },
  );

  test.each([
    [201, 201],
    [500, 500],
    [429, 429],
  ])('%d is passed on', async (status, seen) => {
    answer = { status, body: 'said' };
    const { url } = await listening('--forward-to', behind.url);
    const { records } = await send(url, '--json');
    expect(records()).toMatchObject([{ response: { status: seen, body: 'said' } }]);
  });

  test('a server that is down becomes 503, and forged requests are not forwarded', async () => {
    const { url, arrivals } = await listening('--forward-to', 'http://127.0.0.1:1/hook');
    expect((await send(url)).code).toBe(1);
    expect(arrivals()).toMatchObject([{ status: 503, forwarded: { response: 'ECONNREFUSED' } }]);
    const open = await listening('--forward-to', behind.url);
    const forged = await run([
      'send',
      'call:started',
      '--to',
      open.url,
      '--secret',
      `whsec_${Buffer.alloc(24).toString('base64')}`,
      '--json',
    ]);
    expect(forged.records()).toMatchObject([{ response: { status: 401 } }]);
    expect(behind.received).toEqual([]);
  });

  test('--answer sets the status, and --no-verify accepts unsigned requests', async () => {
    const { url } = await listening('--answer', '500', '--no-verify');
    const response = await fetch(url, { method: 'POST', body: '{}' });
    expect(response.status).toBe(500);
  });

  test('prints a line and the body, without control characters', async () => {
    const one = start(['listen', '--port', '0'], { env });
    running.push(one);
    await one.until('Listening at');
    const [url = ''] = /http:\/\/\S+/.exec(one.stderr()) ?? [];
    await send(url, '--data', '{"eventName":"\\u001b[31mred","callId":"\\u202ecall"}');
    await one.until('verified');
    expect(one.stdout()).toContain('\\x1b[31mred');
    expect(one.stdout()).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(one.stdout() + one.stderr()).not.toContain(SECRET);
  });
});

describe('check', () => {
  test('reports a receiver that accepts everything', async () => {
    const { code, records } = await run(['check', '--to', behind.url, '--json'], { env });
    expect(code).toBe(1);
    const wrong = records()
      .filter(({ result }) => result === 'wrong')
      .map(({ probe }) => probe);
    expect(wrong).toEqual(['unsigned', 'forged', 'stale', 'ahead of time', 'tampered', 'replayed']);
  });

  test.each([404, 410, 308])('%d is wrong for every probe', async (status) => {
    answer = { status };
    const { code, records } = await run(['check', '--to', behind.url, '--json']);
    expect(code).toBe(1);
    expect(records().map(({ result }) => result)).toEqual(['wrong', 'wrong', 'wrong']);
    expect(records().every(({ fix }) => typeof fix === 'string')).toBe(true);
  });
});
