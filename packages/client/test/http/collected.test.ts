import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Client } from '../../src/client.ts';
import { caught } from '../support/caught.ts';
import { testClient } from '../support/client.ts';
import { TestClock } from '../support/clock.ts';
import { path, useDownloads } from '../support/downloads.ts';
import { forgetfulFetch, type ForgetfulFetch } from '../support/garbage.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** So that what hangs fails by name, long before Jest gives up. */
async function soon<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} takes too long`)), 2000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

describe('after the Request was collected', () => {
  let server: TestServer;
  let clock: TestClock;
  let forgetful: ForgetfulFetch;
  let client: Client;
  let controller: AbortController;
  let closed: Promise<unknown>[];

  useDownloads();
  beforeEach(async () => {
    closed = [];
    // One piece of the body, and never another.
    server = await startServer((_, response, { socket }) => {
      closed.push(once(socket, 'close'));
      response.write('{');
    });
    clock = new TestClock();
    forgetful = forgetfulFetch();
    client = testClient(server.origin, { clock, retries: 0, fetch: forgetful.fetch });
    controller = new AbortController();
  });
  afterEach(() => server.close());

  const recording = () => client.calls.recording('c', { signal: controller.signal });

  /** Everything that waits for a body. Started together, for collecting garbage takes its time. */
  function startAll(): Record<string, Promise<unknown>> {
    const { signal } = controller;
    return {
      list: client.events.list({ signal }),
      iterate: client.events.iterate({ signal }).next(),
      stream: recording().then(({ body }) => new Response(body).text()),
      saveTo: recording().then(({ saveTo }) => saveTo(path)),
      'saveTo with its own signal': client.calls
        .recording('c')
        .then(({ saveTo }) => saveTo(`${path}.own`, { signal })),
    };
  }

  async function expectAllToEnd(end: () => void, error: Record<string, unknown>): Promise<void> {
    const failures = Object.entries(startAll()).map(
      ([what, promise]) => [what, caught(promise)] as const,
    );
    await forgetful.forget(failures.length);
    while (clock.armed < failures.length) await setImmediate();
    end();
    for (const [what, failure] of failures) expect(await soon(what, failure)).toMatchObject(error);
    expect(closed).toHaveLength(failures.length);
    await soon('closing', Promise.all(closed));
  }

  test('an abort ends all that waits for a body, and its connection', () =>
    expectAllToEnd(() => controller.abort(new Error('enough')), { message: 'enough' }));

  test('so does a timeout', () =>
    expectAllToEnd(() => clock.expire(), { code: 'timeout', phase: 'body' }));

  test('an abort ends the connection of a recording that is not being read', async () => {
    const unread = (await recording()).body.getReader();
    const paused = (await recording()).body.getReader();
    await paused.read();
    await forgetful.forget(2);
    controller.abort(new Error('enough'));
    await soon('closing', Promise.all(closed));
    await expect(unread.read()).rejects.toThrow('enough');
    await expect(paused.read()).rejects.toThrow('enough');
  });
});
