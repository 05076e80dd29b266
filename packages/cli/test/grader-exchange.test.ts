import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { exchange } from '../src/grader/exchange.ts';
import { PROBES } from '../src/grader/probes.ts';
import { statusesOf } from '../src/grader/responses.ts';
import { TestedReceiver } from '../src/grader/tested-receiver.ts';
import { closeRawServers, rawServer } from './support/raw-server.ts';
import { SECRET } from './support/receiver.ts';

const NEVER = new AbortController().signal;

afterEach(closeRawServers);

describe('exchange', () => {
  test('what the receiver does not read ends with the timeout', async () => {
    const url = await rawServer(() => undefined, true);
    const bytes = Buffer.alloc(64_000_000);
    const answer = await exchange(url, [bytes], { timeoutMs: 200, signal: NEVER });
    expect(answer).toMatchObject({ status: undefined, failure: 'timeout' });
  });

  test('an abort during a wait leaves nothing behind', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const url = await rawServer((socket) =>
      socket.on('data', () => controller.abort(new Error('stop'))),
    );
    const waiting = exchange(url, [new Uint8Array(1), { wait: 60_000 }], {
      timeoutMs: 60_000,
      signal,
    });
    await expect(waiting).rejects.toThrow('stop');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('two responses on one connection', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\n';
  const SECOND = 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n';

  test.each([
    ['a text without an end of line', `${HEAD}Content-Length: 2\r\n\r\nOK`],
    ['no body', 'HTTP/1.1 204 None\r\n\r\n'],
    ['chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2;x\r\nOK\r\n0\r\nA: b\r\n\r\n`],
    ['100 before', `HTTP/1.1 100 Continue\r\n\r\n${HEAD}Content-Length: 1\r\n\r\n\n`],
  ])('%s', (_, first) => {
    expect(statusesOf(first)).toHaveLength(1);
    expect(statusesOf(first + SECOND).at(-1)).toBe(500);
    expect(statusesOf(first + SECOND)).toHaveLength(2);
  });

  test('what looks like a response in a body is none', () => {
    expect(statusesOf(`${HEAD}Content-Length: 50\r\n\r\n\n${SECOND}`)).toEqual([200]);
    expect(statusesOf(`${HEAD}\r\n\n${SECOND}`)).toEqual([200]);
  });

  /** What the probe finds at a server that responds once, and leaves the connection open. */
  async function resultAfter(head: string): Promise<string> {
    const url = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write(`${head}\r\nContent-Length: 2\r\n\r\nOK`);
        socket.resume();
      });
    });
    const receiver = new TestedReceiver({
      ...{ url: url.href, secret: SECRET, runHandlers: true, signal: NEVER },
      ...{ timeoutMs: 1_000, retryForMs: 0, effectsWithinMs: 0, acknowledgeWithinMs: 0 },
    });
    return (await PROBES.find(({ id }) => id === 'keep-alive')!.run(receiver)).result;
  }

  test('silence after the first one is a failure', async () => {
    expect(await resultAfter('HTTP/1.1 200 OK')).toBe('fail');
    expect(await resultAfter('HTTP/1.0 200 OK\r\nConnection: keep-alive')).toBe('fail');
  });

  test('a server that says it closes the connection gets no second one', async () => {
    expect(await resultAfter('HTTP/1.1 200 OK\r\nConnection: close')).toBe('pass');
    expect(await resultAfter('HTTP/1.0 200 OK')).toBe('pass');
  });
});
