import { chunked, requestBytes, signatureLines, type RequestChanges } from '../request-bytes.ts';
import type { Row, RowGroup, RowContext } from '../row.ts';

/** Most of these are answered by Node's parser. */
const request = (
  name: string,
  expect: Row['expect'],
  changes: RequestChanges | ((context: RowContext) => RequestChanges),
  options: Partial<Row> = {},
): Row => ({
  name,
  expect,
  steps: (context) => {
    const how = typeof changes === 'function' ? changes(context) : changes;
    return [requestBytes(context.valid, context.path, how)];
  },
  ...options,
});

const length =
  (of: (bytes: number) => string[]) =>
  ({ valid }: RowContext) => ({
    framing: of(valid.body.length),
  });

const headers = (many: number) => Array.from({ length: many }, (_, at) => `${at.toString(36)}:`);

// Node 20 keeps about the first thousand headers and silently drops the others; Node 22 and 24
// answer 431.
const FLOOD_BEHIND = ['200 handled', '431'];
const FLOOD_IN_FRONT = ['401 missing-header', '431'];

const underscored = (name: string) => name.replaceAll('-', '_');

const CHUNKED = ['Transfer-Encoding: chunked'];

export const framing: RowGroup = {
  title: 'Framing and smuggling',
  rows: [
    request('chunked, in pieces of 7 bytes', 'accepted', ({ valid }) => ({
      framing: CHUNKED,
      body: chunked(valid.body),
    })),
    request('chunked, with trailers', 'accepted', ({ valid }) => ({
      framing: [...CHUNKED, 'Trailer: X-Service-Signature'],
      body: chunked(valid.body, { trailers: ['X-Service-Signature: v1,other'] }),
    })),
    request('the signature in a trailer', 'refused', ({ valid }) => ({
      signed: signatureLines(valid).slice(0, 2),
      framing: [...CHUNKED, 'Trailer: X-Service-Signature'],
      body: chunked(valid.body, { trailers: signatureLines(valid).slice(2) }),
    })),
    request('a chunk size that is no number', 'refused', {
      framing: CHUNKED,
      body: 'zz\r\nabc\r\n0\r\n\r\n',
    }),
    request('Content-Length and Transfer-Encoding', 'refused', ({ valid }) => ({
      framing: [`Content-Length: ${String(valid.body.length)}`, ...CHUNKED],
      body: chunked(valid.body),
    })),
    request('Transfer-Encoding: chunked, identity', 'refused', ({ valid }) => ({
      framing: ['Transfer-Encoding: chunked, identity'],
      body: chunked(valid.body),
    })),
    request('Transfer-Encoding: xchunked', 'refused', ({ valid }) => ({
      framing: ['Transfer-Encoding: xchunked'],
      body: chunked(valid.body),
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
    request('a folded header', 'refused', ({ valid }) => ({
      signed: [...signatureLines(valid), ' X-Service-Signature: folded'],
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
      ({ valid }) => ({ signed: [...headers(1_900), ...signatureLines(valid)] }),
      { oneOf: FLOOD_IN_FRONT },
    ),
    request('a further header in UTF-8', 'accepted', {
      more: [Buffer.from('X-Name: Zoë 📞').toString('latin1')],
    }),
    request('underscores for the dashes of names', 'refused', ({ valid }) => ({
      signed: signatureLines(valid).map((line) => line.replace(/^[^:]+/, underscored)),
    })),
    request('Connection: X-Service-Signature', 'accepted', {
      more: ['Connection: X-Service-Signature'],
    }),
    request('Transfer-Encoding: chunked in HTTP/1.0', 'any', ({ valid }) => ({
      version: 'HTTP/1.0',
      framing: CHUNKED,
      body: chunked(valid.body),
    })),
    {
      name: 'the preface of HTTP/2',
      expect: 'refused',
      steps: () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    },
    {
      name: 'a TLS hello',
      expect: 'refused',
      steps: () => [Buffer.from('16030100a5010000a10303', 'hex')],
    },
    {
      name: 'two honest deliveries in one packet',
      expect: 'accepted',
      responses: 2,
      steps: async ({ valid, path, sign }) => [
        Buffer.concat([
          requestBytes(await sign(), path, { keepAlive: true }),
          requestBytes(valid, path),
        ]),
      ],
    },
    {
      name: 'a forged one and an honest one in one packet',
      expect: 'any',
      responses: 2,
      steps: ({ valid, path }) => [
        Buffer.concat([
          requestBytes(valid, path, { keepAlive: true, signed: [] }),
          requestBytes(valid, path),
        ]),
      ],
    },
  ],
};
