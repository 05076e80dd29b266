import { once } from 'node:events';
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { closeOnSignal, memoryStore, ready, type CloseOnSignalOptions } from '../src/index.ts';
import { createTestReceiver, deferred, STARTED } from './support.ts';

const open: Server[] = [];
/** A time limit that is left must not end the process of other tests. */
const timers: { mock: { results: { value: unknown }[] } }[] = [];

/** A server of `node:http` on a free port, and its URL. */
async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

afterEach(() => {
  for (const { value } of timers.splice(0).flatMap(({ mock }) => mock.results))
    clearTimeout(value as NodeJS.Timeout);
  jest.restoreAllMocks();
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

it('close({ delayMs }) accepts deliveries until the load balancer knows that it is not ready', async () => {
  jest.useFakeTimers();
  try {
    const { receiver, send } = createTestReceiver({ on: { 'call:started': () => undefined } });
    const closed = receiver.close({ delayMs: 5_000 });
    expect((await ready(receiver)()).status).toBe(503);
    expect(await send(STARTED)).toBe('handled');
    await jest.advanceTimersByTimeAsync(5_000);
    await closed;
    expect(await send(STARTED)).toBe('shutting-down');
  } finally {
    jest.useRealTimers();
  }
});

describe('closeOnSignal', () => {
  /** Its listeners are called here, so that no signal reaches the process of the tests. */
  function onSignal(
    receiver: Parameters<typeof closeOnSignal>[0],
    options: CloseOnSignalOptions = {},
  ) {
    const lines: string[] = [];
    const entries: [level: string, message: string, fields: object][] = [];
    const keep = (level: string) => (fields: object, message: string) => {
      lines.push(message);
      entries.push([level, message, { ...fields }]);
    };
    const logger = { info: keep('info'), warn: keep('warn'), error: keep('error') };
    const listeners = new Map<string | symbol, (signal: string) => void>();
    jest.spyOn(process, 'on').mockImplementation((name, listener) => {
      listeners.set(name, listener as (signal: string) => void);
      return process;
    });
    timers.push(jest.spyOn(globalThis, 'setTimeout'));
    const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
    closeOnSignal(receiver, { logger, ...options });
    const signal = (name: 'SIGINT' | 'SIGTERM') => listeners.get(name)?.(name);
    return { signal, exit, lines, entries };
  }
  const closing = (name: string, order: string[]) => ({ close: () => order.push(name) });
  const closed = (lines: string[]) => () => lines.includes('call-webhooks: closed');
  async function until(isTrue: () => boolean) {
    while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
  }

  it('closes the receiver, then the servers, then the resources in their order', async () => {
    const order: string[] = [];
    const store = memoryStore();
    const { receiver } = createTestReceiver({ store });
    const { server, url } = await serve(() => undefined);
    const { signal, lines, exit } = onSignal(
      { receiver },
      {
        server: [server, closing('app', order)],
        resources: [closing('worker', order), () => order.push('pool')],
      },
    );
    signal('SIGTERM');
    expect((await ready(receiver)()).status).toBe(503);
    await until(closed(lines));
    expect(order).toEqual(['app', 'worker', 'pool']);
    await expect(fetch(url)).rejects.toThrow();
    expect(exit).not.toHaveBeenCalled();
  });

  it('lets a running handler respond, and ends its connection, which is kept alive', async () => {
    const [begun, go] = [deferred(), deferred()];
    const { server, url } = await serve((_request, response) => {
      begun.resolve();
      void go.promise.then(() => response.end('done'));
    });
    const agent = new Agent({ keepAlive: true });
    const answered = once(get(url, { agent }), 'response');
    await begun.promise;
    const { signal, lines } = onSignal(createTestReceiver().receiver, { server });
    signal('SIGINT');
    go.resolve();
    const [response] = (await answered) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    const ended = once(response.socket, 'close');
    response.resume();
    await ended;
    await until(closed(lines));
  });

  it('cuts off requests that do not end, before the process has to end', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] });
    try {
      const begun = deferred();
      const { server, url } = await serve(() => begun.resolve());
      const cutOff = once(get(url), 'error');
      await begun.promise;
      const { signal, lines, exit } = onSignal(createTestReceiver().receiver, { server });
      signal('SIGTERM');
      await jest.advanceTimersByTimeAsync(9_900);
      expect(await cutOff).toMatchObject([{ code: 'ECONNRESET' }]);
      await until(closed(lines));
      expect(exit).not.toHaveBeenCalled();
    } finally {
      jest.useRealTimers();
    }
  });

  it('takes the worker of a queue, with the grace of its handlers', async () => {
    const close = jest.fn((_options: object) => Promise.resolve());
    const { signal, lines } = onSignal({ close }, { graceMs: 25_000 });
    signal('SIGTERM');
    await until(closed(lines));
    expect(close.mock.calls).toEqual([[{ graceMs: 25_000, delayMs: 0 }]]);
  });

  it('gives handlers 10 s by default, and has a line for the beginning and the end', async () => {
    const close = jest.fn((_options: object) => Promise.resolve());
    const { signal, lines, entries } = onSignal({ close });
    signal('SIGTERM');
    await until(closed(lines));
    expect(close.mock.calls).toEqual([[{ graceMs: 10_000, delayMs: 0 }]]);
    expect(entries).toEqual([
      ['info', 'call-webhooks: closing', { signal: 'SIGTERM' }],
      ['info', 'call-webhooks: closed', {}],
    ]);
  });

  it('logs what fails to close, closes the rest, and makes the process end with 1', async () => {
    const order: string[] = [];
    const broken = () => Promise.reject(new Error('the pool is gone'));
    const { signal, lines } = onSignal(createTestReceiver().receiver, {
      resources: [broken, closing('store', order)],
    });
    signal('SIGTERM');
    await until(closed(lines));
    expect(order).toEqual(['store']);
    expect(lines).toContainEqual(
      expect.stringMatching(/something failed to close: .*the pool is gone/),
    );
    expect(process.exitCode).toBe(1);
    process.exitCode = 0;
  });

  it('ends the process 10 s after the grace of the handlers', async () => {
    jest.useFakeTimers();
    try {
      const never = () => new Promise(() => undefined);
      const receiver = createTestReceiver().receiver;
      const options = { resources: [never], graceMs: 3_000, delayMs: 2_000 };
      const { signal, entries, exit } = onSignal(receiver, options);
      signal('SIGTERM');
      await jest.advanceTimersByTimeAsync(14_999);
      expect(exit).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      expect(exit.mock.calls).toEqual([[1]]);
      expect(entries.at(-1)).toEqual([
        'error',
        'call-webhooks: something did not close in time, so the process exits with code 1',
        {
          alive: expect.any(Array),
          docs: expect.stringMatching(/deploying\.html#ready-and-shut-down$/),
        },
      ]);
    } finally {
      jest.useRealTimers();
    }
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'ends the process at a second %s with %i, but not at the copy that npm sends within 500 ms',
    async (name, code) => {
      jest.useFakeTimers();
      try {
        const { signal, exit } = onSignal({ close: () => new Promise<void>(() => undefined) });
        signal(name === 'SIGINT' ? 'SIGTERM' : 'SIGINT');
        signal(name);
        await jest.advanceTimersByTimeAsync(500);
        signal(name);
        expect(exit).not.toHaveBeenCalled();
        await jest.advanceTimersByTimeAsync(1);
        signal(name);
        expect(exit.mock.calls).toEqual([[code]]);
      } finally {
        jest.useRealTimers();
      }
    },
  );

  it.each<[string, object]>([
    ['server: expected what listen() returned', { server: () => undefined }],
    [
      'resources.0: expected an object with close, or a function such as () => redis.disconnect()',
      { resources: [{ quit: () => 'OK', disconnect: () => undefined }] },
    ],
    ['there is no option "timeout"', { timeout: 1 }],
  ])('refuses at start: %s', (message, options) => {
    const { receiver } = createTestReceiver();
    expect(() => {
      closeOnSignal(receiver, options);
    }).toThrow(message);
  });
});
