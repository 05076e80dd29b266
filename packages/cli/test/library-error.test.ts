import { afterEach, describe, expect, test } from '@jest/globals';
import { ApiError, NetworkError, TimeoutError } from '@call-webhooks/client';
import { toCliError } from '../src/library-error.ts';
import { receiver } from './support/receiver.ts';
import { run } from './support/run.ts';

// What people are told of errors of the REST client, and which server was asked.

const REQUEST = { method: 'GET', path: '/v1/calls' };
const RETRY = 'Try again. If it keeps failing, ask the provider of the service.';
const CHECK_URL = "Check the service's URL: CALL_WEBHOOKS_BASE_URL or --base-url.";
const PROXY = 'HTTP_PROXY names the proxy http://p:1';

test.each([
  ['nothing was sent', new NetworkError('x', { maybeSent: false }), CHECK_URL],
  ['the connection broke', new NetworkError('x', { maybeSent: true }), RETRY],
  ['there was no response', new TimeoutError('GET /v1/calls', 'headers', 5), RETRY],
  ['the token never came', new TimeoutError('GET /v1/calls', 'token', 5), RETRY],
  [
    'a proxy is named',
    new NetworkError(PROXY, { maybeSent: false }),
    'Check the proxy, or list the host in NO_PROXY.',
  ],
])('if %s, the fix fits', (_what, error, fix) => {
  expect(toCliError(error)).toMatchObject({ exitCode: 3, fix });
});

test.each([
  [{ error: { message: 'inner' }, message: 'outer' }, ': inner'],
  [{ error: 'text', message: 'outer' }, ': outer'],
  [{ message: 'outer' }, ': outer'],
  [{ error: { message: 7 } }, ''],
  ['text', ''],
  [null, ''],
])('of the body %j of a refusal, the message is told', (body, told) => {
  const { message } = toCliError(new ApiError({ ...REQUEST, status: 409, body }));
  expect(message).toBe(`GET /v1/calls responded with status 409${told}`);
});

describe('which server is asked', () => {
  const servers: Awaited<ReturnType<typeof receiver>>[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((one) => one.close())));
  const serve = async (answer: Parameters<typeof receiver>[0]) => {
    const one = await receiver(answer);
    servers.push(one);
    return { ...one, origin: new URL(one.url).origin };
  };
  const json = (status: number, body: object) => ({
    ...{ status, body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json' },
  });

  test('is the simulator of --simulator, although a base URL is given as well', async () => {
    const service = await serve(() => json(200, { results: [{ _id: 'of the service' }] }));
    const simulator = await serve(({ url }) =>
      json(
        200,
        url === '/_sim/api-token' ? { apiToken: 't' } : { results: [{ _id: 'simulated' }] },
      ),
    );
    const calls = ['calls', '--json', '--base-url', service.origin, '--api-token', 't'];
    expect((await run(calls)).records()).toEqual([{ _id: 'of the service' }]);
    const both = await run([...calls, '--simulator', simulator.origin]);
    expect(both.records()).toEqual([{ _id: 'simulated' }]);
  });

  test('if a simulator refuses, its reason is told, and not that a URL is missing', async () => {
    const error = { code: 'forbidden-host', message: 'This host is not allowed.' };
    const simulator = await serve(() => json(403, { error }));
    const env = { CALL_WEBHOOKS_SIMULATOR: simulator.origin };
    const { code, stderr } = await run(['calls'], { env, columns: 300 });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^error: This host is not allowed\.\n/),
    });
  });
});
