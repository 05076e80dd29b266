import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sign } from '@call-webhooks/core';
import { receiver, SECRET } from './support/receiver.ts';
import { type Run, start } from './support/run.ts';

// Scripts read these records, and people these lines: each has all of its fields, and no others.

const OTHER = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const EVENT = { eventName: 'call:completed', callId: 'c-1' };
const SMALL = JSON.stringify(EVENT);

let behind: Awaited<ReturnType<typeof receiver>>;
let answer: { status: number; headers?: Record<string, string>; body?: string };
const running: Run[] = [];

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

interface Sent {
  readonly method?: string;
  /** What is signed. */
  readonly body?: string | Buffer;
  /** What is sent, if it is not that. */
  readonly sent?: string;
  readonly secret?: string;
  readonly webhookId?: string;
  readonly headers?: Record<string, string>;
}

/** A program that listens, and what is sent to it. */
async function listen(...flags: string[]) {
  const isJson = flags.includes('--json');
  const argv = ['listen', '--port', '0', ...flags];
  const one = start(argv, { env: { CALL_WEBHOOK_SECRET: SECRET }, columns: 300 });
  running.push(one);
  await one.until(isJson ? '"ready"' : 'Press Ctrl-C to stop.');
  const [url = ''] = /http:\/\/127[\d.:]+/.exec(one.stdout() + one.stderr()) ?? [];
  let lines = isJson ? 1 : 0;
  /** Sends one request, and waits until it is printed. */
  const send = async ({ method = 'POST', body = SMALL, secret = SECRET, ...more }: Sent) => {
    const { webhookId = crypto.randomUUID(), headers } = more;
    const signature =
      secret === '' ? {} : await sign({ secret, body: Buffer.from(body), webhookId });
    const request = httpRequest(`${url}/any?a=1`, {
      method,
      agent: false,
      headers: { 'Content-Type': 'application/json', ...signature, ...headers },
    });
    request.end(method === 'GET' ? undefined : (more.sent ?? body));
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
    const said = await text(response);
    while (one.stdout().split('\n').length - 1 <= lines) await new Promise(setImmediate);
    lines = one.stdout().split('\n').length - 1;
    const { 'content-type': type } = response.headers;
    return { status: response.statusCode, type, said };
  };
  const records = () =>
    one
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...one, url, send, records };
}

const TIME = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/);
const ARRIVED = { time: TIME, method: 'POST', path: '/any?a=1' };
const JSON_TYPE = 'application/json';

describe('what listen prints, and responds', () => {
  test('of each kind of request, for scripts', async () => {
    const { url, send, records } = await listen('--json');
    const webhookId = 'w-1';
    const genuine = { status: 200, type: JSON_TYPE, said: '{"outcome":"handled"}' };
    expect(await send({ webhookId })).toMatchObject(genuine);
    expect(await send({ webhookId })).toMatchObject({ status: 409 });
    expect(await send({ webhookId: 'w-2' })).toMatchObject({
      ...{ status: 200, said: '{"outcome":"duplicate"}' },
    });
    expect(await send({ secret: OTHER })).toMatchObject({ status: 401 });
    expect(await send({ secret: '' })).toMatchObject({ status: 401 });
    expect(await send({ method: 'GET', secret: '' })).toMatchObject({ status: 405 });
    const bytes = Buffer.from([0xff, 0x00]);
    expect(await send({ webhookId: 'w-3', body: bytes })).toMatchObject({ status: 422 });
    expect(await send({ webhookId: 'w-4', body: 'no json' })).toMatchObject({ status: 422 });
    const refused = { ...ARRIVED, verified: false, problem: expect.any(String) };
    const taken = { ...ARRIVED, verified: true };
    expect(records()).toEqual([
      { type: 'ready', url },
      { ...taken, ...EVENT, status: 200, outcome: 'handled', webhookId, body: EVENT },
      { ...taken, ...EVENT, status: 409, outcome: 'replayed', webhookId, body: EVENT },
      { ...taken, ...EVENT, status: 200, outcome: 'duplicate', webhookId: 'w-2', body: EVENT },
      { ...refused, status: 401, outcome: 'signature-mismatch', body: EVENT },
      { ...refused, status: 401, outcome: 'missing-header', body: EVENT },
      { ...refused, method: 'GET', status: 405, outcome: 'method-not-allowed', body: '' },
      { ...taken, status: 422, outcome: 'invalid-payload', webhookId: 'w-3', bodyBase64: '/wA=' },
      { ...taken, status: 422, outcome: 'invalid-payload', webhookId: 'w-4', body: 'no json' },
    ]);
  });

  test('of each kind of request, for people', async () => {
    const one = await listen();
    await one.send({});
    await one.send({ sent: `${SMALL}\n` });
    await one.send({ method: 'GET', secret: '' });
    const lines = one
      .stdout()
      .replaceAll(/\d\d:\d\d:\d\dZ/g, '00:00:00Z')
      .split('\n');
    expect(lines).toEqual([
      '00:00:00Z  call:completed  c-1  verified  200  handled',
      ...['  {', '    "eventName": "call:completed",', '    "callId": "c-1"', '  }'],
      '00:00:00Z  POST /any?a=1  not verified  401  signature-mismatch',
      '  a line feed was added at the end of the body, for example by echo or an editor',
      ...['  {', '    "eventName": "call:completed",', '    "callId": "c-1"', '  }'],
      '00:00:00Z  GET /any?a=1  not verified  405  method-not-allowed',
      expect.stringMatching(/^ {2}\S.*POST/),
      '',
    ]);
    expect(one.stderr()).toBe(`Listening at ${one.url} on any path.\nPress Ctrl-C to stop.\n`);
  });

  test('with --no-body: one line for each delivery, and with --respond that status for what is genuine alone', async () => {
    const one = await listen('--no-body', '--respond', '503');
    const webhookId = 'w-1';
    expect(await one.send({ webhookId })).toEqual({ status: 503, type: JSON_TYPE, said: '{}' });
    expect(await one.send({ webhookId })).toMatchObject({ status: 409 });
    expect(await one.send({ secret: OTHER })).toMatchObject({ status: 401 });
    const lines = one.stdout().split('\n');
    expect(lines.map((line) => line.replace(/^\S+Z/, 'TIME'))).toEqual([
      'TIME  call:completed  c-1  verified  503  responded with --respond',
      'TIME  call:completed  c-1  verified  409  replayed',
      'TIME  POST /any?a=1  not verified  401  signature-mismatch',
      expect.stringMatching(
        /^ {2}The only configured secret \(\S+\) does not match this signature\./,
      ),
      '',
    ]);
  });

  test('with --no-verify: anything is taken, and nothing is called verified', async () => {
    const one = await listen('--no-verify', '--json');
    expect(await one.send({ secret: '' })).toMatchObject({ status: 200 });
    expect(await one.send({ secret: OTHER })).toMatchObject({ status: 200 });
    const taken = { ...ARRIVED, ...EVENT, verified: false, body: EVENT };
    expect(one.records().slice(1)).toEqual([
      { ...taken, status: 200, outcome: 'handled' },
      { ...taken, status: 200, outcome: 'duplicate' },
    ]);
    expect(one.stderr()).toBe(
      '{"warning":"Signatures are not verified, so anyone can send anything."}\n',
    );
  });
});

describe('what listen forwards', () => {
  test('is the request without the headers of its connection, and the response comes back', async () => {
    answer = {
      status: 202,
      body: '<queued>',
      headers: { 'content-type': 'text/x', 'x-other': 'a' },
    };
    const one = await listen('--forward-to', behind.url, '--json');
    const headers = {
      ...{ Connection: 'close, X-Hop', 'X-Hop': '1', TE: 'trailers', 'Proxy-Authorization': 'x' },
      ...{ 'X-Tenant': 'Blue', 'Keep-Alive': 'timeout=5' },
    };
    const sent = await one.send({ webhookId: 'w-1', headers });
    expect(sent).toEqual({ status: 202, type: 'text/x', said: '<queued>' });
    const [taken] = behind.received;
    expect(String(taken?.body)).toBe(SMALL);
    const names = taken?.rawHeaders.filter((_one, at) => at % 2 === 0);
    expect(names?.sort()).toEqual([
      ...['Connection', 'Content-Length', 'Content-Type', 'Host', 'X-Service-Signature'],
      ...['X-Service-Timestamp', 'X-Service-Webhook-Id', 'X-Tenant'],
    ]);
    expect(taken?.headers).toMatchObject({ connection: 'close', 'x-tenant': 'Blue' });
    expect(one.records()).toEqual([
      { type: 'ready', url: one.url, forwardTo: behind.url },
      {
        ...{ ...ARRIVED, ...EVENT, verified: true, webhookId: 'w-1', body: EVENT },
        ...{ status: 202, outcome: 'forwarded' },
        forwarded: { url: behind.url, response: '202', ms: expect.any(Number) },
      },
    ]);
  });

  test.each([
    ['a receiver names its outcome', 503, '{"outcome":"store-unavailable"}', 'store-unavailable'],
    ['a receiver acknowledges', 200, '{"outcome":"duplicate"}', 'duplicate'],
    ['the outcome has another status', 500, '{"outcome":"duplicate"}', undefined],
    ['there is no such outcome', 500, '{"outcome":"no-such"}', undefined],
    ['the body is long', 200, `{"outcome":"duplicate","x":"${'x'.repeat(200)}"}`, undefined],
    ['the app says nothing', 500, 'oops', undefined],
  ])('is printed with what the app made of it: %s', async (_what, status, body, outcome) => {
    answer = { status, body };
    const one = await listen('--forward-to', behind.url, '--no-body');
    expect(await one.send({})).toMatchObject({ status, said: body });
    const said = outcome === undefined ? String(status) : `${String(status)} ${outcome}`;
    expect(one.stdout().replaceAll(/\d+ ms/g, '1 ms')).toContain(
      `\n  → ${behind.url}  ${said}  1 ms\n`,
    );
    const scripted = await listen('--forward-to', behind.url, '--json');
    await scripted.send({});
    expect(scripted.records()[1]).toMatchObject({ status, outcome: 'forwarded' });
    const { forwarded } = scripted.records()[1] as { forwarded: object };
    expect(forwarded).toEqual({
      ...{ url: behind.url, response: String(status), ms: expect.any(Number) },
      ...(outcome !== undefined && { outcome }),
    });
  });

  test.each([
    ['response withheld', 404, ', which would pause the rule at once'],
    ['response withheld', 410, ''],
    ['response withheld', 301, ''],
    ['not forwarded', 0, undefined],
  ])('is told if the response is not passed on: %s, %d', async (outcome, status, why) => {
    answer = { status, headers: { location: '/' } };
    const to = status === 0 ? 'http://127.0.0.1:1/hook' : behind.url;
    const one = await listen('--forward-to', to, '--no-body');
    expect(await one.send({})).toEqual({
      ...{ status: 503, type: JSON_TYPE, said: '{"outcome":"forwarding-failed"}' },
    });
    const response = status === 0 ? 'ECONNREFUSED' : String(status);
    const lines = one
      .stdout()
      .replaceAll(/\d+ ms/g, '1 ms')
      .split('\n');
    expect(lines.map((line) => line.replace(/^\S+Z/, 'TIME'))).toEqual([
      `TIME  call:completed  c-1  verified  503  ${outcome}`,
      ...[`  → ${to}  ${response}  1 ms`, ''],
    ]);
    const [, , , ...warnings] = one.stderr().trim().split('\n');
    expect(warnings).toEqual(
      why === undefined
        ? []
        : [
            `warning: The server responded ${status}${why}. The service receives a 503 instead. Check that --forward-to is the final URL of the receiver.`,
          ],
    );
  });

  test('is nothing that is forged', async () => {
    const one = await listen('--forward-to', behind.url, '--json');
    expect(await one.send({ secret: OTHER })).toMatchObject({ status: 401 });
    expect(behind.received).toEqual([]);
    expect(one.records()[1]).not.toHaveProperty('forwarded');
  });
});

test('listen --learn learns from what is genuine alone', async () => {
  const one = await listen('--learn', '--json');
  const call = (field: string, more: object = {}) => ({
    ...{ eventName: 'call:completed', callId: 'c-1', [field]: '+12025550101', ...more },
  });
  await one.send({ secret: OTHER, body: JSON.stringify(call('forged')) });
  await one.send({ webhookId: 'w-1', body: JSON.stringify(call('genuine')) });
  await one.send({ webhookId: 'w-1', body: JSON.stringify(call('genuine')) });
  one.stop();
  await one.code;
  const inferred = one.records().at(-1) as { fieldNames: object[]; read: object };
  expect(inferred.fieldNames).toContainEqual({
    ...{ setting: 'calledNumber', status: 'found' },
    candidates: [{ name: 'genuine', reasons: ['telephone numbers'] }],
  });
  expect(inferred.read).toEqual({
    ...{ callEvents: 1, recordingEvents: 0, callRecords: 0, ignored: 0 },
  });
});
