import { gzipSync } from 'node:zlib';
import { eventBody } from '../delivery.ts';
import { chunked, requestBytes, type RequestChanges } from '../request-bytes.ts';
import type { Row, RowGroup, SignOptions } from '../row.ts';

/** A body with a valid signature, sent as it is. */
const signedBody = (
  name: string,
  expect: Row['expect'],
  body: () => string | Uint8Array,
  options: SignOptions = {},
): Row => ({
  name,
  expect,
  steps: async ({ sign, path }) => [requestBytes(await sign(body(), options), path)],
});

const validBody = (name: string, expect: Row['expect'], changes: RequestChanges): Row => ({
  name,
  expect,
  steps: ({ valid, path }) => [requestBytes(valid, path, changes)],
});

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** With duplicate JSON keys the last one counts, for the event key and the handler alike. */
const duplicateKeys = () => eventBody().replace('{', '{"callId":"first",');

export const bodies: RowGroup = {
  title: 'Bodies',
  rows: [
    validBody('one byte changed', 'refused', { body: eventBody() }),
    validBody('empty, with the signature of another', 'refused', { body: '' }),
    signedBody('empty, and signed', 'refused', () => ''),
    signedBody('not JSON', 'refused', () => '{"eventName":'),
    signedBody('not UTF-8', 'refused', () =>
      Buffer.from('{"eventName":"call:completed","x":"ÿ"}', 'latin1'),
    ),
    signedBody('a byte order mark in front', 'refused', () => `\ufeff${eventBody()}`),
    signedBody('UTF-16', 'refused', () => Buffer.from(eventBody(), 'utf16le')),
    signedBody('nested 10,000 deep', 'refused', () =>
      eventBody({ x: 0 }).replace('0', nested(10_000)),
    ),
    signedBody(
      'a known event with a wrong shape',
      'accepted',
      () => '{"eventName":"call:completed","callId":7}',
    ),
    signedBody('an unknown event', 'accepted', () => eventBody({ eventName: 'call:teleported' })),
    signedBody('`__proto__` as the event', 'accepted', () => eventBody({ eventName: '__proto__' })),
    signedBody('a `__proto__` field', 'accepted', () =>
      eventBody().replace('{', '{"__proto__":{"eventName":"call:started"},'),
    ),
    signedBody('equal keys twice', 'accepted', duplicateKeys),
    signedBody('a top-level array', 'accepted', () => '[1,2,3]'),
    signedBody('`null`', 'accepted', () => 'null'),
    signedBody('an id of 100,000 characters', 'accepted', () =>
      eventBody({ callId: 'c'.repeat(100_000) }),
    ),
    validBody('said to be text/plain', 'accepted', { more: ['Content-Type: text/plain'] }),
    validBody('said to be a form', 'accepted', {
      more: ['Content-Type: multipart/form-data; boundary=x'],
    }),
    validBody('"Content-Encoding: identity"', 'accepted', {
      more: ['Content-Encoding: identity'],
    }),
    {
      name: 'compressed with gzip',
      expect: 'refused',
      steps: ({ valid, path }) => [
        requestBytes(valid, path, {
          body: gzipSync(valid.body),
          more: ['Content-Encoding: gzip'],
        }),
      ],
    },
    validBody('compressed with something unknown', 'refused', {
      more: ['Content-Encoding: x-rot13'],
    }),
    validBody('said to be 4 GB', 'refused', { framing: ['Content-Length: 4294967296'] }),
    {
      name: '2 MB in chunks',
      expect: 'refused',
      steps: ({ valid, path }) => [
        requestBytes(valid, path, {
          framing: ['Transfer-Encoding: chunked'],
          body: chunked(Buffer.alloc(2_000_000, 'x'), { size: 64_000 }),
        }),
      ],
    },
  ],
};
