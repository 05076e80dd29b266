import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { generateSecret, type ReceiverOptions } from '@call-webhooks/core';
import { createReceiverOnFirstUse } from '@call-webhooks/core/internal';
import { createNodeHandler } from '@call-webhooks/core/node';
import { DEFAULTS, GradedReceiver } from '../src/grader/receiver.ts';
import { assistant } from './support/assistant.ts';
import { closing } from './support/dead-letters.ts';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

// What check, doctor and the tool check_receiver find out about the secrets of a receiver.

const OTHER = generateSecret();
const logger = { warn: () => undefined, error: () => undefined };
const close: (() => unknown)[] = [];
afterEach(() => Promise.all(close.splice(0).map((one) => one())));

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  close.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
}

function withSecret(secret: ReceiverOptions['secret']): Promise<string> {
  const handler = createNodeHandler({ secret, logger });
  return served((request, response) => void handler(request, response));
}

/** Responds as the receiver of a framework that imports an app without its environment. */
const withoutSecret = () => {
  const own = createReceiverOnFirstUse({ secret: undefined, logger });
  return served((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const { method = '', headers } = request;
      const body = () => Promise.resolve(Buffer.concat(chunks));
      const answer = await own().receive({ method, headers, body });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    })();
  });
};

const FIX = /Give the process of the receiver its signing secrets/;

describe('a receiver that has no secret', () => {
  test.each([
    ['without a secret', {}],
    ['with a secret', { CALL_WEBHOOK_SECRET: SECRET }],
  ])('fails the check %s, which names the fix', async (_how, env) => {
    const url = await withoutSecret();
    const { code, stdout } = await run(['check', '--to', url], { env });
    expect(code).toBe(1);
    expect(stdout).toContain('503 secret-unavailable.');
    expect(stdout.replace(/\s+/g, ' ')).toMatch(FIX);
  });

  test.each([
    ['without a secret', {}],
    ['with a secret', { CALL_WEBHOOK_SECRET: SECRET }],
  ])('is bad for doctor %s, which names the fix', async (_how, env) => {
    const url = await withoutSecret();
    const { code, records } = await run(['doctor', '--to', url, '--json'], { env });
    expect(code).toBe(1);
    expect(records()).toContainEqual({
      ...{ check: 'receiver', result: 'bad' },
      text: expect.stringContaining('503 secret-unavailable.'),
      fix: expect.stringMatching(FIX),
    });
  });

  test('fails the check of an assistant', async () => {
    const { ask } = await assistant(['--to', await withoutSecret()]);
    expect((await ask('check_receiver')).answer['findings']).toContainEqual(
      expect.objectContaining({ result: 'fail', saw: '503 secret-unavailable' }),
    );
    for (const done of closing.splice(0)) await done();
  });
});

test.each([
  ['a body that was parsed before', 500, 'body-already-parsed', 'Mount the receiver before'],
  ['an error without an outcome', 500, '', 'The error is in its log.'],
  ['an outcome that has another status', 502, 'body-already-parsed', 'The error is in its log.'],
])('a receiver that responds to everything with %s: %d', async (_what, status, outcome, fix) => {
  const target = await receiver(() => ({ status, body: JSON.stringify({ outcome }) }));
  close.push(target.close);
  const { code, stderr } = await run(['check', '--to', target.url, '--secret', SECRET]);
  expect(code).toBe(1);
  const named = status === 500 && outcome !== '' ? ` ${outcome}` : '';
  expect(stderr).toContain(`The receiver returns ${String(status)}${named} for every request`);
  expect(stderr).toContain(fix);
});

describe('of several secrets', () => {
  const THIRD = generateSecret();
  test.each([
    ['first', [OTHER, SECRET], 1, 2],
    ['second', [SECRET, OTHER], 2, 2],
    ['second of three', [SECRET, OTHER, THIRD], 2, 3],
    ['last of three', [SECRET, THIRD, OTHER], 3, 3],
  ])('one that is not deployed hides nothing: the %s', async (_which, secrets, number, count) => {
    const url = await withSecret([SECRET, THIRD]);
    const env = { CALL_WEBHOOK_SECRET: secrets.join() };
    const { code, records } = await run(['check', '--to', url, '--json'], { env });
    expect(code).toBe(1);
    const failures = records().filter(({ result }) => result === 'fail');
    expect(failures).toEqual([expect.objectContaining({ check: 'secrets/others' })]);
    expect(failures[0]?.['saw']).toBe(`401 for secret ${number} of ${count}`);
    expect(records().at(-1)).toEqual({ type: 'result', passed: 7, failed: 1, skipped: 0 });
    const { ask } = await assistant(['--to', url], env);
    const { findings } = (await ask('check_receiver')).answer as { findings?: object[] };
    expect(findings?.filter((one) => (one as { result: string }).result !== 'pass')).toEqual([
      expect.objectContaining({ check: 'secrets/others', saw: failures[0]?.['saw'] }),
    ]);
    for (const done of closing.splice(0)) await done();
  });

  test('none of which is deployed, the first is reported', async () => {
    const url = await withSecret(SECRET);
    const env = { CALL_WEBHOOK_SECRET: `${OTHER},${THIRD}` };
    const { code, stdout } = await run(['check', '--to', url], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAILED {3}signature\/valid +401/);
  });

  test.each([
    ['ahead', 20 * 60_000],
    ['behind', -20 * 60_000],
  ])(
    'the one that is deployed is found if the clock of the receiver is %s',
    async (_how, ahead) => {
      const target = await receiver(({ headers }) => {
        const off = Math.abs(Number(headers['x-service-timestamp']) * 1_000 - Date.now() - ahead);
        const date = new Date(Date.now() + ahead).toUTCString();
        return { status: off < 300_000 ? 200 : 401, headers: { date } };
      });
      close.push(target.close);
      const env = { CALL_WEBHOOK_SECRET: `${OTHER},${SECRET}` };
      const { records } = await run(['check', '--to', target.url, '--json'], { env });
      expect(records()[0]).toMatchObject({ check: 'signature/valid', result: 'pass' });
    },
  );
});

test.each([
  ['409, and again', [409, 409, 200], 3, 200],
  ['429', [429, 202], 2, 202],
  ['404, which pauses the rule', [404, 200], 1, 404],
])('an event is sent until it is acknowledged, after %s', async (_what, statuses, sent, end) => {
  const target = await receiver(({ body }) => ({
    status: String(body) === '{}' ? 401 : (statuses[target.received.length - 1] ?? 500),
  }));
  close.push(target.close);
  const graded = new GradedReceiver({
    ...DEFAULTS,
    ...{ url: target.url, secret: SECRET, timeoutMs: 5_000, signal: new AbortController().signal },
  });
  graded.pause = () => Promise.resolve();
  const result = await graded.deliverUntilAcknowledged(graded.event());
  expect(result).toMatchObject({ kind: 'status', status: end });
  expect(target.received).toHaveLength(sent);
});

test.each([
  ['twice for calls', { CALL_WEBHOOK_SECRET: `${SECRET},${SECRET}` }],
  [
    'for calls and for recordings',
    { CALL_WEBHOOK_SECRET: SECRET, RECORDING_WEBHOOK_SECRET: SECRET },
  ],
])('doctor warns of a secret that is given %s', async (_how, env) => {
  const { records } = await run(['doctor', '--json'], { env });
  expect(records()).toContainEqual(
    expect.objectContaining({
      ...{ check: 'secrets', result: 'warn', text: 'The same secret is given twice.' },
    }),
  );
});

test.each(['/v1', '/v1/', '/api/v1', '/api/v1/'])(
  'doctor refuses a base URL with %s',
  async (path) => {
    const argv = [
      'doctor',
      '--json',
      '--base-url',
      `http://127.0.0.1:1${path}`,
      '--api-token',
      't',
    ];
    const { code, records } = await run(argv);
    expect(code).toBe(1);
    expect(records()).toContainEqual(
      expect.objectContaining({ check: 'REST API', result: 'bad', fix: 'Remove /v1 from it.' }),
    );
  },
);
