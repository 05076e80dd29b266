import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callBody } from '@call-webhooks/store-tests/internal';
import { chunked, exchange, requestBytes, signedDelivery } from '../raw-socket.ts';
import type { RequestChanges, SignedDelivery, SocketStep } from '../raw-socket.ts';
import { unique } from '@call-webhooks/store-tests/internal';
import type { AdapterTestContext, Started } from './under-test.ts';

type Headers = SignedDelivery['signed'];

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The same bytes in another spelling: a bit that base64 does not use is set. */
function respelt(signature: string): string {
  const at = signature.length - 2;
  const last = BASE64.indexOf(signature.charAt(at));
  return `${signature.slice(0, at)}${BASE64.charAt(last ^ 1)}=`;
}

const bytes = (text: string) => Buffer.from(text).toString('latin1');
const id = (value: string) => `X-Service-Webhook-Id: ${value}`;
const time = (value: string) => `X-Service-Timestamp: ${value}`;

/**
 * Other signature headers than those of the delivery, by the outcome; each is a 401. They are those that a
 * server or framework may change; what is a matter of their text alone is tested in core.
 */
const headers: Record<string, Record<string, (...signed: Headers) => string[]>> = {
  'missing-header': {
    'no signature': (...signed) => signed.slice(0, 2),
    'an empty webhook id': (_id, ...rest) => [id(''), ...rest],
    'underscores for the dashes of names': (...signed) =>
      signed.map((line) => line.replace(/^[^:]+/, (name) => name.replaceAll('-', '_'))),
  },
  'malformed-header': {
    'a signature twice, the right one first': (...signed) => [
      ...[...signed, `X-Service-Signature: v1,${'A'.repeat(43)}=`],
    ],
    'a webhook id joined by a comma': (first, ...rest) => [`${first}, a`, ...rest],
    'a webhook id in UTF-8': (first, ...rest) => [bytes(`${first}é`), ...rest],
    'a timestamp in Arabic digits': (first, _at, last) => [first, time(bytes('١٧٠٠')), last],
  },
  'signature-mismatch': {
    'a signature in another spelling of base64': (first, at, last) => [first, at, respelt(last)],
  },
};

const CHUNKED = 'Transfer-Encoding: chunked';
const TRAILER = 'Trailer: X-Service-Signature';
const twoMegabytes = chunked(Buffer.alloc(2_000_000, 'x'), { size: 64_000 });

/** Other requests than that of the delivery, by the response. */
const requests: Record<string, Record<string, (delivery: SignedDelivery) => RequestChanges>> = {
  '401 signature-mismatch': {
    'no body': () => ({ body: '' }),
  },
  '401 missing-header': {
    'the signature in a trailer': ({ body, signed: [first, at, last] }) => ({
      signed: [first, at],
      framing: [CHUNKED, TRAILER],
      body: chunked(body, { trailer: last }),
    }),
  },
  '415 unsupported-encoding': {
    'a compressed body': ({ body }) => ({
      body: gzipSync(body),
      more: ['Content-Encoding: gzip'],
    }),
  },
  '413 body-too-large': {
    'a body said to be 4 GB': () => ({ framing: ['Content-Length: 4294967296'] }),
    '2 MB in chunks': () => ({ framing: [CHUNKED], body: twoMegabytes }),
  },
  '200 handled': {
    'a body in chunks of 7 bytes': ({ body }) => ({ framing: [CHUNKED], body: chunked(body) }),
    'another signature in a trailer': ({ body }) => ({
      framing: [CHUNKED, TRAILER],
      body: chunked(body, { trailer: 'X-Service-Signature: v1,other' }),
    }),
    'a query, and a header that names another method': () => ({
      query: '?_method=GET&__proto__[x]=1',
      more: ['X-HTTP-Method-Override: GET'],
    }),
    'a header for the next hop alone': () => ({ more: ['Connection: X-Service-Signature'] }),
  },
};

/** The request of a delivery, split at a position in the body. */
function cut(delivery: SignedDelivery, at: number): [Buffer, Buffer] {
  const whole = requestBytes(delivery);
  const from = whole.length - delivery.body.length + at;
  return [whole.subarray(0, from), whole.subarray(from)];
}

/** Requests in parts, or several on a connection; '': nobody waits for a response. */
const connections: Record<string, Record<string, (delivery: SignedDelivery) => SocketStep[]>> = {
  '200 handled, 409 replayed': {
    'a request twice in one packet': (one) => [
      Buffer.concat([requestBytes(one, { keepAlive: true }), requestBytes(one)]),
    ],
  },
  '401 missing-header, 200 handled': {
    'a forgery and a delivery in one packet': (one) => [
      Buffer.concat([requestBytes(one, { keepAlive: true, signed: [] }), requestBytes(one)]),
    ],
  },
  '200 handled': {
    'a body in two packets': (one) => [cut(one, 9)[0], { wait: 5 }, cut(one, 9)[1]],
    'a body that waits for 100 Continue': (one) => [
      requestBytes(one, {
        body: '',
        framing: [`Content-Length: ${String(one.body.length)}`],
        more: ['Expect: 100-continue'],
      }),
      ...[{ until: '100 Continue' }, one.body],
    ],
  },
  '408 body-timeout': {
    'a body that stops': (one) => [cut(one, 9)[0]],
    'a body that never begins': (one) => [cut(one, 0)[0]],
    'a body that comes byte by byte': (one) => [
      ...[cut(one, 0)[0], { drip: cut(one, 0)[1], everyMs: 10 }],
    ],
  },
  '': {
    'a reset in the body': (one) => [cut(one, 9)[0], { wait: 5 }, { end: 'rst' }],
    'a half-close in the body': (one) => [cut(one, 9)[0], { end: 'fin' }],
  },
};

/** The rows as `it.each` takes them. */
const rowsOf = <Change>(table: Record<string, Record<string, Change>>) =>
  Object.entries(table).flatMap(([expected, rows]) =>
    Object.entries(rows).map(([name, change]): [string, string, Change] => [
      ...([name, expected, change] as const),
    ]),
  );

/** Requests that no honest sender makes, over raw sockets. */
export function hostile({ mount }: AdapterTestContext): void {
  describe('hostile input', () => {
    let [patient, hasty] = [] as unknown as [Started, Started];
    beforeAll(async () => {
      const on = { 'call:completed': () => undefined };
      [patient, hasty] = [await mount({ on }), await mount({ on, bodyTimeout: 50 })];
    });
    afterAll(async () => {
      await patient.end();
      await hasty.end();
    });

    const delivery = ({ url, secret }: Started) =>
      signedDelivery(url, secret, callBody(unique('call')));

    async function send(url: string, steps: SocketStep[], expected: string): Promise<string> {
      const responses = expected === '' ? 0 : expected.split(', ').length;
      const { statuses, outcomes } = await exchange(url, steps, { responses });
      return statuses
        .map((status, at) => `${String(status)} ${outcomes[at] ?? ''}`.trimEnd())
        .join(', ');
    }

    /** A request that was refused has claimed nothing: the delivery itself is handled after it. */
    async function check(one: SignedDelivery, steps: SocketStep[], expected: string) {
      expect(await send(one.url, steps, expected)).toBe(expected);
      const after = expected.includes('handled') ? '409 replayed' : '200 handled';
      expect(await send(one.url, [requestBytes(one)], after)).toBe(after);
    }

    it.each(rowsOf(headers))('%s: 401 %s', async (_name, outcome, change) => {
      const one = await delivery(patient);
      await check(one, [requestBytes(one, { signed: change(...one.signed) })], `401 ${outcome}`);
    });

    it.each(rowsOf(requests))('%s: %s', async (_name, expected, change) => {
      const one = await delivery(patient);
      await check(one, [requestBytes(one, change(one))], expected);
    });

    it.each(rowsOf(connections))('%s: %s', async (_name, expected, steps) => {
      const isCut = expected === '' || expected.startsWith('408');
      const one = await delivery(isCut ? hasty : patient);
      await check(one, steps(one), expected);
    });
  });
}
