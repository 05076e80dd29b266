import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { isSigned, receiver, SECRET } from './support/receiver.ts';
import { run, type Run, start } from './support/run.ts';

describe('sending deliveries', () => {
  const env = { CALL_WEBHOOK_SECRET: SECRET };
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  let target: Awaited<ReturnType<typeof receiver>>;
  let status = 200;

  beforeEach(async () => {
    status = 200;
    target = await receiver(() => ({ status, body: 'thank \u001b[31myou' }));
  });
  afterEach(() => target.close());
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  describe('send', () => {
    test('signs a sample as the spec says', async () => {
      const { code, stdout, stderr } = await run(
        ['send', 'call:completed', '--to', target.url, '--set', 'recipientName=Ada'],
        { env },
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^200 .+acknowledged\n/);
      expect(stdout).toContain('thank \\x1b[31myou');
      const [one] = target.received;
      expect(one && isSigned(one)).toBe(true);
      expect(JSON.parse(String(one?.body))).toMatchObject({
        eventName: 'call:completed',
        recipientName: 'Ada',
      });
      expect(one?.headers['content-type']).toBe('application/json');
    });

    test('the bytes of a file or a pipe are not changed', async () => {
      const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
      const argv = ['send', 'any:name', '--to', String(target.port), '--data'];
      await run([...argv, `@${file('bytes', bytes)}`], { env });
      await run([...argv, '-'], { env, stdin: bytes });
      expect(target.received.map(({ body }) => body.equals(bytes))).toEqual([true, true]);
      expect(target.received.every((one) => isSigned(one))).toBe(true);
    });

    test.each([
      [500, 'retry'],
      [302, 'retry'],
      [404, 'pause the rule at once'],
    ])('%d is exit code 1', async (answered, told) => {
      status = answered;
      const { code, stdout } = await run(['send', 'call:started', '--to', target.url], { env });
      expect(code).toBe(1);
      expect(stdout).toContain(told);
    });

    test('no listener is exit code 3, a broken connection is 1', async () => {
      const breaking = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
      await once(breaking, 'listening');
      const to = String((breaking.address() as AddressInfo).port);
      const argv = ['send', 'call:started', '--to', to];
      const broken = await run(argv, { env });
      expect(broken).toMatchObject({ code: 1, stderr: '' });
      expect(broken.stdout).toContain('the service would retry');
      breaking.close();
      await once(breaking, 'close');
      const refused = await run(argv, { env });
      expect(refused).toMatchObject({ code: 3, stdout: '' });
      expect(refused.stderr).toMatch(
        /Nothing is listening at the address: \S+ \(ECONNREFUSED\)\.\n.*Start the receiver/,
      );
      expect((await run(['check', '--to', to], { env })).code).toBe(3);
    });

    test('--json has the request and the response, and no secret', async () => {
      const { records, stdout } = await run(
        ['send', 'call:started', '--to', target.url, '--json'],
        {
          env,
        },
      );
      const [record] = records();
      expect(record).toEqual({
        request: {
          url: target.url,
          headers: {
            'Content-Type': 'application/json',
            'X-Service-Webhook-Id': target.received[0]?.headers['x-service-webhook-id'],
            'X-Service-Timestamp': target.received[0]?.headers['x-service-timestamp'],
            'X-Service-Signature': target.received[0]?.headers['x-service-signature'],
          },
        },
        response: {
          ...{ kind: 'status', status: 200, headers: expect.any(Object), ms: expect.any(Number) },
          body: 'thank \u001b[31myou',
        },
        effect: 'acknowledged',
      });
      expect(stdout).not.toContain(SECRET);
      // What is given replaces what is sent by default, but not the signature.
      const own = ['-H', 'Content-Type: text/x', '-H', 'X-Service-Timestamp: 1', '-H', 'X-A: b'];
      await run(['send', 'call:started', '--to', target.url, ...own], { env });
      expect(target.received[1]?.headers).toMatchObject({ 'content-type': 'text/x', 'x-a': 'b' });
      expect(isSigned(target.received[1]!)).toBe(true);
    });

    test('signs with the first line of a secret file', async () => {
      const path = file(
        'secrets',
        `# mine\n${SECRET}\nwhsec_${Buffer.alloc(24).toString('base64')}\n`,
      );
      await run(['send', 'call:started', '--to', target.url, '--secret-file', path]);
      expect(target.received.every((one) => isSigned(one))).toBe(true);
    });

    test('the curl command sends the same bytes, whatever they are', async () => {
      const name = `O'Brien "$HOME" \`id\` \\ !x\nsecond`;
      const set = ['--set', `note=${JSON.stringify(name)}`];
      const { stdout } = await run(
        ['send', 'call:started', '--to', `${target.url}?a=b&c='d'&e=[1-2]{f,g}`, '--curl', ...set],
        { env },
      );
      expect(stdout).not.toContain(SECRET);
      const raw = await run(['send', 'x', '--to', target.url, '--curl', '--data', "it's\n@here"], {
        env,
      });
      // How curl names a file.
      const named = await run(
        ['send', 'x', '--to', target.url, '--curl', '-H', 'Content-Type: a/b', '--data', '-'],
        { env, stdin: '@here' },
      );
      const path = file("bo'dy", Buffer.from([0xff, 0x00]));
      const binary = await run(['send', 'x', '--to', target.url, '--curl', '--data', `@${path}`], {
        env,
      });
      // The file has the body before the field was set.
      const before = file('before', Buffer.from('{"a":1}'));
      const changed = await run(
        ['send', 'x', '--to', target.url, '--curl', '--data', `@${before}`, '--set', 'b=2'],
        { env },
      );
      for (const command of [stdout, raw.stdout, named.stdout, binary.stdout, changed.stdout])
        await promisify(execFile)('sh', ['-c', command]);
      expect(target.received.map((one) => isSigned(one))).toEqual(Array(5).fill(true));
      expect(String(target.received[4]?.body)).toBe('{"a":1,"b":2}');
      expect(String(target.received[2]?.body)).toBe('@here');
      expect(target.received[2]?.headers['content-type']).toBe('a/b');
      expect(JSON.parse(String(target.received[0]?.body))).toMatchObject({ note: name });
      expect(String(target.received[1]?.body)).toBe("it's\n@here");
    });

    test('a body that cannot be on a command line is refused', async () => {
      const { code, stderr } = await run(
        ['send', 'x', '--to', target.url, '--curl', '--data', '-'],
        {
          env,
          stdin: '\u001b[2J',
        },
      );
      expect(code).toBe(2);
      expect(stderr).toContain('--data @file');
    });
  });

  test('UTF-16, as PowerShell writes it, is read everywhere but in a raw body', async () => {
    const utf16 = (name: string, text: string) =>
      file(name, Buffer.from(`\uFEFF${text}`, 'utf16le'));
    const secret = ['--secret-file', utf16('secret16', `${SECRET}\r\n`)];
    const headers = (await run(['sign', '-d', '{"a":1}', ...secret])).stdout.replaceAll(
      '\n',
      '\r\n',
    );
    const body = '{"a":1}';
    const argv = ['verify', '--headers', utf16('headers16', headers), '-d', body];
    const verified = await run([...argv, ...secret]);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    const data = ['--data', `@${utf16('data16', body)}`];
    await run(['send', 'x', '--to', target.url, ...data, '--set', 'b=2', ...secret]);
    expect(String(target.received[0]?.body)).toBe('{"a":1,"b":2}');
  });
});

describe('listening', () => {
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
    test('responds correctly to every request of check', async () => {
      const { url, arrivals } = await listening();
      const { code, records } = await run(['check', '--to', url, '--json'], { env });
      expect(code).toBe(0);
      expect(records().at(-1)).toMatchObject({ passed: 7, failed: 0, skipped: 0 });
      expect(arrivals().map(({ outcome }) => outcome)).toEqual([
        ...['missing-header', 'ignored', 'signature-mismatch', 'signature-mismatch'],
        ...['missing-header', 'timestamp-out-of-tolerance', 'timestamp-out-of-tolerance'],
        ...['ignored', 'replayed'],
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
        expect(stderr()).toContain(`{"warning":"The server responded ${String(status)}`);
        expect(arrivals()).toMatchObject([
          { status: 503, forwarded: { response: String(status) } },
        ]);
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

    test('a server that has not responded within 28 s becomes 503, before the service gives up', async () => {
      const { url, arrivals } = await listening('--forward-to', behind.url);
      const { timeout } = AbortSignal;
      const timers = jest
        .spyOn(AbortSignal, 'timeout')
        .mockImplementation((ms) => (ms === 28_000 ? AbortSignal.abort() : timeout(ms)));
      const { records } = await send(url, '--json');
      timers.mockRestore();
      expect(records()).toMatchObject([{ response: { status: 503 } }]);
      expect(arrivals()).toMatchObject([
        { status: 503, forwarded: { response: 'no response in time' } },
      ]);
    });

    test('says of a wrong signature what it knows: others were verified before', async () => {
      const { url, arrivals } = await listening();
      expect((await send(url)).code).toBe(0);
      const other = `whsec_${Buffer.alloc(24).toString('base64')}`;
      await run(['send', 'call:started', '--to', url, '--secret', other]);
      const [, forged] = arrivals();
      expect(forged).toMatchObject({ status: 401 });
      expect(JSON.stringify(forged)).not.toContain('since the start');
    });

    test('tells a duplicate, and refuses what is no JSON, as a receiver does', async () => {
      const { url, arrivals } = await listening();
      const event = ['--data', '{"eventName":"call:started","callId":"c-1"}'];
      expect((await send(url, ...event)).code).toBe(0);
      expect((await send(url, ...event)).code).toBe(0);
      expect((await send(url, '--data', 'no JSON')).code).toBe(1);
      expect((await send(url, '--data', '{"a custom":"payload"}')).code).toBe(0);
      const outcomes = arrivals().map(({ outcome }) => outcome);
      expect(outcomes).toEqual(['handled', 'duplicate', 'invalid-payload', 'ignored']);
    });

    test('--respond sets the status, and --no-verify accepts unsigned requests', async () => {
      const { url } = await listening('--respond', '500', '--no-verify');
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
        .filter(({ result }) => result === 'fail')
        .map(({ check }) => check);
      expect(wrong).toEqual([
        ...['signature/other-secret', 'signature/other-body', 'headers/none'],
        ...['clock/6-minutes-ago', 'clock/6-minutes-ahead', 'replays/at-once'],
      ]);
    });

    test.each([404, 410, 308])(
      '%d is wrong for every request, and has its own fix',
      async (status) => {
        answer = { status };
        const { code, records } = await run(['check', '--to', behind.url, '--json']);
        expect(code).toBe(1);
        const failed = records().filter(({ result }) => result === 'fail');
        expect(failed).toHaveLength(2);
        for (const { fix } of failed) expect(fix).toMatch(/503|final URL/);
      },
    );
  });
});
