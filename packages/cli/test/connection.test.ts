import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { App } from '../src/app.ts';
import { connect, simulatorOf } from '../src/simulator/connection.ts';

// How long a simulator is waited for, and what stays behind.

const URL = 'http://127.0.0.1:4777';
let fetched: [url: string, init: RequestInit][];
let respond: (response: Response) => void;
beforeEach(() => {
  fetched = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation((url, init = {}) => {
    fetched.push([url as string, init]);
    return new Promise((resolve, reject) => {
      respond = resolve;
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
    });
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const running = new AbortController().signal;
const asks = {
  get: () => connect(URL, running).get('/events', { limit: 3, state: undefined, rule: 'a b' }),
  post: () => connect(URL, running).post('/calls', { recorded: false }),
  'post nothing': () => connect(URL, running).post('/chaos/clear'),
  patch: () => connect(URL, running).patch('/chaos', { duplicate: 1 }),
  delete: () => connect(URL, running).delete('/rules/r'),
  stream: () => connect(URL, running).stream(),
  'the clock': () => connect(URL, running).get('/clock'),
} satisfies Record<string, () => Promise<unknown>>;
const REQUESTS: Record<keyof typeof asks, [method: string, path: string, body?: string]> = {
  get: ['GET', '/events?limit=3&rule=a+b'],
  post: ['POST', '/calls', '{"recorded":false}'],
  'post nothing': ['POST', '/chaos/clear', '{}'],
  patch: ['PATCH', '/chaos', '{"duplicate":1}'],
  delete: ['DELETE', '/rules/r', '{}'],
  stream: ['GET', '/stream'],
  'the clock': ['GET', '/clock'],
};

describe.each(Object.keys(asks) as (keyof typeof asks)[])('%s', (name) => {
  test('is sent to the control API, and follows no redirect', async () => {
    const asking = asks[name]();
    respond(new Response('[]'));
    await asking;
    const [method, path, body] = REQUESTS[name];
    expect(fetched).toHaveLength(1);
    const [[url, { signal: _signal, ...init }] = ['', {} as RequestInit]] = fetched;
    expect([url, init]).toEqual([
      `${URL}/_sim${path}`,
      {
        ...{ method, redirect: 'error' },
        ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
      },
    ]);
  });

  test('is given up after ten seconds, and leaves no timer behind', async () => {
    jest.useFakeTimers();
    let told: unknown;
    const asking = asks[name]().catch((error: unknown) => (told = error));
    await jest.advanceTimersByTimeAsync(9_999);
    expect(told).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    await asking;
    expect(told).toMatchObject({
      ...{ exitCode: 3, message: `The server at ${URL} did not respond within 10 s.` },
      fix: 'Check that this is a simulator, or pass the address of yours: --simulator http://127.0.0.1:PORT',
    });
    const answered = asks[name]();
    respond(new Response('[]'));
    await answered;
    expect(jest.getTimerCount()).toBe(0);
  });
});

test.each(['advance', 'next', 'run-until-idle'])(
  'a clock that has to %s is waited for, as long as it takes',
  async (step) => {
    jest.useFakeTimers();
    const asking = connect(URL, running).post(`/clock/${step}`);
    await jest.advanceTimersByTimeAsync(3_600_000);
    respond(new Response('{"now":1}'));
    expect(await asking).toEqual({ now: 1 });
    expect(jest.getTimerCount()).toBe(0);
  },
);

test('Ctrl-C ends the waiting with its own reason', async () => {
  const controller = new AbortController();
  const asking = connect(URL, controller.signal).get('/rules');
  controller.abort(new Error('Ctrl-C'));
  await expect(asking).rejects.toThrow('Ctrl-C');
});

describe('behind a proxy', () => {
  const NAMES = ['no_proxy', 'NO_PROXY'] as const;
  const before = NAMES.map((name) => [name, process.env[name]] as const);
  afterEach(() => {
    for (const [name, value] of before)
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
  });
  const OWN = 'localhost,127.0.0.1,[::1]';
  const listed = (env: Record<string, string>) => {
    for (const name of NAMES) Reflect.deleteProperty(process.env, name);
    simulatorOf({ io: { env }, signal: running } as unknown as App, {});
    return NAMES.map((name) => process.env[name]);
  };

  test.each([
    [{}, OWN],
    [{ NO_PROXY: 'a.example' }, `a.example,${OWN}`],
    [{ no_proxy: 'b.example' }, `b.example,${OWN}`],
    [{ no_proxy: 'b.example', NO_PROXY: 'a.example' }, `b.example,${OWN}`],
    [{ no_proxy: '', NO_PROXY: 'a.example' }, `a.example,${OWN}`],
  ])('this machine is asked directly, and what %j excepts as well', (excepted, list) => {
    for (const proxy of ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'])
      expect(listed({ ...excepted, [proxy]: 'http://127.0.0.1:9' })).toEqual([list, list]);
  });

  test('without one, nothing of the environment changes', () => {
    expect(listed({ HTTPS_PROXY: '', NO_PROXY: 'a' })).toEqual([undefined, undefined]);
  });
});
