import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { sign } from '@call-webhooks/core';

/** What to do on a connection, step by step. */
export type SocketStep =
  | Uint8Array
  /** Milliseconds. */
  | { wait: number }
  /** Waits until the server has sent this. */
  | { until: string }
  /** Sends it byte by byte at this interval, until the server ends the connection. */
  | { drip: Uint8Array; everyMs: number }
  /** Half-closes, or resets. */
  | { end: 'fin' | 'rst' };

/** What the server sent on one connection. */
export interface SocketReply {
  /** Final statuses in order, without 100 Continue. */
  statuses: number[];
  /** The outcomes in the bodies of the responses. */
  outcomes: string[];
}

/** Runs the steps, then reads until there are so many outcomes, or the connection or the time ends. */
export async function exchange(
  url: string,
  steps: readonly SocketStep[],
  { responses = 1, timeoutMs = 3_000 } = {},
): Promise<SocketReply> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), allowHalfOpen: true });
  let text = '';
  const life = { isOpen: true };
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1');
    socket.emit('changed');
  });
  for (const event of ['end', 'close', 'error'])
    // resets are expected
    socket.on(event, () => {
      life.isOpen = false;
      socket.emit('changed');
    });
  const reply = (): SocketReply => ({
    statuses: matches(text, /HTTP\/1\.[01] ([2-5]\d\d) ?/g).map(Number),
    outcomes: matches(text, /"outcome":"([a-z-]+)"/g),
  });
  const until = async (done: () => boolean) => {
    const signal = AbortSignal.timeout(timeoutMs);
    while (!done() && life.isOpen && !signal.aborted)
      await once(socket, 'changed', { signal }).catch(() => undefined);
  };

  await once(socket, 'connect');
  for (const step of steps) {
    if (step instanceof Uint8Array) socket.write(step);
    else if ('wait' in step) await pause(step.wait);
    else if ('until' in step) await until(() => text.includes(step.until));
    else if ('drip' in step)
      for (let at = 0; at < step.drip.length && life.isOpen; at++) {
        socket.write(step.drip.subarray(at, at + 1));
        await pause(step.everyMs);
      }
    else if (step.end === 'fin') socket.end();
    else socket.resetAndDestroy();
  }
  await until(() => reply().outcomes.length >= responses);
  socket.destroy();
  return reply();
}

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, match = '']) => match);

/** A signed delivery in parts that a test can change. */
export interface SignedDelivery {
  url: string;
  /** The lines of the webhook id, the timestamp and the signature. */
  signed: [string, string, string];
  body: Buffer;
}

export async function signedDelivery(
  url: string,
  secret: string,
  body: string,
): Promise<SignedDelivery> {
  const headers = await sign({ secret, body });
  const signed = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return { url, signed: signed as SignedDelivery['signed'], body: Buffer.from(body) };
}

/** How a request differs from the valid one. */
export interface RequestChanges {
  query?: string;
  /** Instead of the three signature headers. */
  signed?: readonly string[];
  /** Instead of `Content-Length`. */
  framing?: readonly string[];
  /** More header lines. */
  more?: readonly string[];
  body?: string | Buffer;
  /** Without it, the request has `Connection: close`. */
  keepAlive?: boolean;
}

/** The bytes of an HTTP/1.1 request: valid, except for the changes. */
export function requestBytes(delivery: SignedDelivery, changes: RequestChanges = {}): Buffer {
  const { query = '', signed = delivery.signed, more = [], body = delivery.body } = changes;
  const { framing = [`Content-Length: ${String(Buffer.byteLength(body))}`] } = changes;
  const { host, pathname } = new URL(delivery.url);
  const lines = [
    `POST ${pathname}${query} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    ...(changes.keepAlive ? [] : ['Connection: close']),
    ...[...signed, ...framing, ...more, '', ''],
  ];
  // latin1, so that every byte can be written.
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), Buffer.from(body as string)]);
}

/** A body in HTTP/1.1 chunks. */
export function chunked(body: Buffer, { size = 7, trailer = '' } = {}): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from(`0\r\n${trailer && `${trailer}\r\n`}\r\n`)]);
}
