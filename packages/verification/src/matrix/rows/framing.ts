import { chunked, requestBytes, signatureLines, type Departures } from '../request-bytes.ts';
import type { Row, RowGroup, Scene } from '../row.ts';

/** Node's parser, or whatever stands before it, answers most of these. */
const request = (
  name: string,
  expect: Row['expect'],
  departures: Departures | ((scene: Scene) => Departures),
  options: Partial<Row> = {},
): Row => ({
  name,
  expect,
  pieces: (scene) => {
    const how = typeof departures === 'function' ? departures(scene) : departures;
    return [requestBytes(scene.honest, scene.path, how)];
  },
  ...options,
});

const length =
  (of: (bytes: number) => string[]) =>
  ({ honest }: Scene) => ({
    framing: of(honest.body.length),
  });

const headers = (many: number) => Array.from({ length: many }, (_, at) => `${at.toString(36)}:`);

// Node 20 keeps the first thousand headers or so, and drops the others without a word; 22 and 24
// answer 431.
const FLOOD_BEHIND = ['200 handled', '431'];
const FLOOD_IN_FRONT = ['401 missing-header', '431'];

const underscored = (name: string) => name.replaceAll('-', '_');

const CHUNKED = ['Transfer-Encoding: chunked'];

export const framing: RowGroup = {
  title: 'Framing and smuggling',
  rows: [
    request('chunked, in pieces of 7 bytes', 'accepted', ({ honest }) => ({
      framing: CHUNKED,
      body: chunked(honest.body),
    })),
    request('chunked, with trailers', 'accepted', ({ honest }) => ({
      framing: [...CHUNKED, 'Trailer: X-Service-Signature'],
      body: chunked(honest.body, { trailers: ['X-Service-Signature: v1,other'] }),
    })),
    request('the signature in a trailer', 'refused', ({ honest }) => ({
      signed: signatureLines(honest).slice(0, 2),
      framing: [...CHUNKED, 'Trailer: X-Service-Signature'],
      body: chunked(honest.body, { trailers: signatureLines(honest).slice(2) }),
    })),
    request('a chunk size that is no number', 'refused', {
      framing: CHUNKED,
      body: 'zz\r\nabc\r\n0\r\n\r\n',
    }),
    request('Content-Length and Transfer-Encoding', 'refused', ({ honest }) => ({
      framing: [`Content-Length: ${String(honest.body.length)}`, ...CHUNKED],
      body: chunked(honest.body),
    })),
    request('Transfer-Encoding: chunked, identity', 'refused', ({ honest }) => ({
      framing: ['Transfer-Encoding: chunked, identity'],
      body: chunked(honest.body),
    })),
    request('Transfer-Encoding: xchunked', 'refused', ({ honest }) => ({
      framing: ['Transfer-Encoding: xchunked'],
      body: chunked(honest.body),
    })),
    request(
      'Content-Length twice, the same',
      'refused',
      length((bytes) => Array<string>(2).fill(`Content-Length: ${String(bytes)}`)),
    ),
    request(
      'Content-Length twice, not the same',
      'refused',
      length((bytes) => [`Content-Length: ${String(bytes)}`, 'Content-Length: 0']),
    ),
    request('Content-Length: +5', 'refused', { framing: ['Content-Length: +5'] }),
    request('Content-Length: 0x5', 'refused', { framing: ['Content-Length: 0x5'] }),
    request('Content-Length: -1', 'refused', { framing: ['Content-Length: -1'] }),
    request('no length at all', 'refused', { framing: [], body: '' }),
    request('a folded header', 'refused', ({ honest }) => ({
      signed: [...signatureLines(honest), ' X-Service-Signature: folded'],
    })),
    request('a space before a colon', 'refused', { more: ['X-Odd : 1'] }),
    request('a header without a name', 'refused', { more: [': 1'] }),
    request('a null byte in a header', 'refused', { more: ['X-Odd: a\0b'] }),
    request('bare line feeds', 'refused', { newLine: '\n' }),
    request('bare carriage returns', 'refused', { newLine: '\r' }, { expect: 'any' }),
    request('no host', 'refused', { host: [] }),
    request('two hosts', 'any', { host: ['Host: localhost', 'Host: elsewhere'] }),
    request('HTTP/1.0', 'accepted', { version: 'HTTP/1.0' }),
    request('HTTP/0.9', 'refused', { version: '' }),
    request('HTTP/3.0', 'refused', { version: 'HTTP/3.0' }),
    request('a header of 20 KB', 'refused', { more: [`X-Big: ${'b'.repeat(20_000)}`] }),
    request('100 further headers', 'accepted', {
      more: Array.from({ length: 100 }, (_, at) => `X-${String(at)}: 1`),
    }),
    request('900 further headers', 'accepted', { more: headers(900) }),
    request('1,900 further headers', 'any', { more: headers(1_900) }, { oneOf: FLOOD_BEHIND }),
    request(
      '1,900 headers in front of the signature',
      'refused',
      ({ honest }) => ({ signed: [...headers(1_900), ...signatureLines(honest)] }),
      { oneOf: FLOOD_IN_FRONT },
    ),
    request('a further header in UTF-8', 'accepted', {
      more: [Buffer.from('X-Name: Zoë 📞').toString('latin1')],
    }),
    request('underscores for the dashes of names', 'refused', ({ honest }) => ({
      signed: signatureLines(honest).map((line) => line.replace(/^[^:]+/, underscored)),
    })),
    request('Connection: X-Service-Signature', 'accepted', {
      more: ['Connection: X-Service-Signature'],
    }),
    request('Transfer-Encoding: chunked in HTTP/1.0', 'any', ({ honest }) => ({
      version: 'HTTP/1.0',
      framing: CHUNKED,
      body: chunked(honest.body),
    })),
    {
      name: 'the preface of HTTP/2',
      expect: 'refused',
      pieces: () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    },
    {
      name: 'a TLS hello',
      expect: 'refused',
      pieces: () => [Buffer.from('16030100a5010000a10303', 'hex')],
    },
    {
      name: 'two honest deliveries in one packet',
      expect: 'accepted',
      answers: 2,
      pieces: async ({ honest, path, sign }) => [
        Buffer.concat([
          requestBytes(await sign(), path, { keepAlive: true }),
          requestBytes(honest, path),
        ]),
      ],
    },
    {
      name: 'a forged one and an honest one in one packet',
      expect: 'any',
      answers: 2,
      pieces: ({ honest, path }) => [
        Buffer.concat([
          requestBytes(honest, path, { keepAlive: true, signed: [] }),
          requestBytes(honest, path),
        ]),
      ],
    },
  ],
};
