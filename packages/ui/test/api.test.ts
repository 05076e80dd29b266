import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { callJson, messageOf } from '../src/api.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A server that answers each request this way. */
async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

test('an error response has the code and the message of its body, or its status', async () => {
  const error = { code: 'conflict', message: 'The line is busy.' };
  const url = await serve((response) => response.writeHead(409).end(JSON.stringify({ error })));
  await expect(callJson({ url })).rejects.toMatchObject(error);
  const plain = await serve((response) => response.writeHead(502).end('<html>'));
  await expect(callJson({ url: plain })).rejects.toMatchObject({
    code: '502',
    message: 'The server returned 502.',
  });
  const gone = callJson({ url: 'http://127.0.0.1:1', unreachable: 'It is off.' });
  await expect(gone).rejects.toMatchObject({ code: 'unreachable', message: 'It is off.' });
});

test('a request that is cancelled in the middle of the body rejects with the reason', async () => {
  const stop = new AbortController();
  const url = await serve((response) => response.writeHead(200).write('{"half":'));
  const { fetch } = globalThis;
  closing.push(() => {
    globalThis.fetch = fetch;
  });
  globalThis.fetch = async (...request) => {
    const response = await fetch(...request);
    stop.abort(new Error('a newer request took its place'));
    return response;
  };
  await expect(callJson({ url, signal: stop.signal })).rejects.toThrow('a newer request');
});

test('a connection that breaks in the middle of the body is unreachable', async () => {
  const url = await serve((response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"half":', () => response.destroy());
  });
  await expect(callJson({ url })).rejects.toMatchObject({ code: 'unreachable' });
});

test('errors of the page itself are told as such', () => {
  expect(messageOf(new TypeError('no such thing'))).toBe(
    'The page failed: TypeError: no such thing',
  );
});
