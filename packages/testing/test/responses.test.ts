import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { callCompleted, deliver } from '../src/index.ts';

const body = '{"outcome":"handled","note":"Zoë ☎"}';
const half = Buffer.from(body).subarray(0, 33); // in the middle of a character
const rest = Buffer.from(body).subarray(33);

const RESPONSES: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  'with its length': (_request, response) => {
    const length = Buffer.byteLength(body);
    response.writeHead(200, { 'content-length': length }).end(body);
  },
  'in chunks that come one after the other': (_request, response) => {
    response.write(half);
    setImmediate(() => response.end(rest));
  },
  'after an early hint': (_request, response) => {
    response.writeProcessing();
    response.end(body);
  },
  'until the end of the connection': (request) => {
    request.socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
    request.socket.write(half);
    setImmediate(() => request.socket.end(rest));
  },
  'before the request was read': (_request, response) => void response.end(body),
};

describe('deliver takes a response', () => {
  it.each(Object.entries(RESPONSES))('%s', async (_name, respond) => {
    const listener = (request: IncomingMessage, response: ServerResponse) =>
      respond(request, response);
    const delivered = await deliver(listener, { note: 'x'.repeat(100_000) });
    expect(delivered).toEqual({ status: 200, body, outcome: 'handled' });
  });

  it('without a body', async () => {
    const listener = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(204).end();
    expect(await deliver(listener, callCompleted())).toEqual({ status: 204, body: '' });
  });

  it('rejects if there is none', async () => {
    const listener = (request: IncomingMessage, _response: ServerResponse) =>
      void request.socket.destroy();
    const delivery = deliver(listener, callCompleted());
    await expect(delivery).rejects.toThrow('closed before the response had arrived');
  });

  it('of a path as it was given, with other characters percent-encoded', async () => {
    const seen: unknown[] = [];
    const listener = (
      { url, method, httpVersion, headers }: IncomingMessage,
      response: ServerResponse,
    ) => {
      seen.push(url, method, httpVersion, headers.host, headers['x-rule']);
      response.end();
    };
    const headers = { 'x-rule': 'r1' };
    await deliver(listener, callCompleted(), { path: '//hooks/../é?a=b c%20d', headers });
    expect(seen).toEqual(['//hooks/../%C3%A9?a=b%20c%20d', 'POST', '1.1', 'localhost', 'r1']);
  });
});
