import { requestBytes } from '../request-bytes.ts';
import type { Piece } from '../raw-socket.ts';
import type { Row, RowGroup, Scene } from '../row.ts';

/** The request of an honest delivery, cut where a row wants it cut. */
function cut({ honest, path }: Scene, bodyBytes: number): readonly [Buffer, Buffer] {
  const whole = requestBytes(honest, path);
  const at = whole.length - honest.body.length + bodyBytes;
  return [whole.subarray(0, at), whole.subarray(at)];
}

const RESET = { end: 'rst' } as const;
const HALF_CLOSE = { end: 'fin' } as const;

const gone = (name: string, pieces: (scene: Scene) => readonly Piece[]): Row => ({
  name,
  expect: 'any',
  answers: 0,
  pieces,
});

const HEADERS_TIMEOUT_MS = 500;

/** Node itself answers 408 to these, when `headersTimeout` is over. */
const slowHeaders = (name: string, pieces: Row['pieces']): Row => ({
  name,
  expect: 'refused',
  headersTimeoutMs: HEADERS_TIMEOUT_MS,
  pieces,
});

export const connections: RowGroup = {
  title: 'Connections',
  rows: [
    gone('gone at once', () => [RESET]),
    gone('gone in the request line', () => ['POS', RESET]),
    gone('gone in the headers', ({ honest, path }) => [
      requestBytes(honest, path).subarray(0, 60),
      RESET,
    ]),
    gone('gone after the headers', (scene) => [cut(scene, 0)[0], { wait: 20 }, RESET]),
    gone('gone in the body', (scene) => [cut(scene, 9)[0], { wait: 20 }, RESET]),
    gone('gone after the body', ({ honest, path }) => [requestBytes(honest, path), RESET]),
    gone('gone in a chunk', ({ honest, path }) => [
      requestBytes(honest, path, { framing: ['Transfer-Encoding: chunked'], body: 'ff\r\nhalf' }),
      { wait: 20 },
      RESET,
    ]),
    slowHeaders('a connection that says nothing', () => []),
    slowHeaders('headers that stop', ({ honest, path }) => [
      requestBytes(honest, path).subarray(0, 60),
    ]),
    slowHeaders('headers that come byte by byte', ({ honest, path }) => [
      { drip: requestBytes(honest, path), everyMs: 40 },
    ]),
    {
      name: 'half-closed in the headers',
      expect: 'refused',
      pieces: ({ honest, path }) => [requestBytes(honest, path).subarray(0, 60), HALF_CLOSE],
    },
    {
      name: 'half-closed after the request',
      expect: 'accepted',
      pieces: ({ honest, path }) => [requestBytes(honest, path), HALF_CLOSE],
    },
    {
      name: 'half-closed in the body',
      expect: 'any',
      pieces: (scene) => [cut(scene, 9)[0], HALF_CLOSE],
    },
    {
      name: 'a body that stops',
      expect: 'refused',
      pieces: (scene) => [cut(scene, 9)[0]],
    },
    {
      name: 'a body that never begins',
      expect: 'refused',
      pieces: (scene) => [cut(scene, 0)[0]],
    },
    {
      name: 'a body that comes byte by byte',
      expect: 'refused',
      pieces: (scene) => {
        const [headers, body] = cut(scene, 0);
        return [headers, { drip: body, everyMs: 150 }];
      },
    },
    {
      name: 'a body in two packets',
      expect: 'accepted',
      pieces: (scene) => {
        const [first, second] = cut(scene, 9);
        return [first, { wait: 20 }, second];
      },
    },
    {
      name: 'Expect: 100-continue',
      expect: 'accepted',
      pieces: ({ honest, path }) => [
        requestBytes(honest, path, {
          body: '',
          framing: [`Content-Length: ${String(honest.body.length)}`],
          more: ['Expect: 100-continue'],
        }),
        { until: '100 Continue' },
        honest.body,
      ],
    },
    {
      name: 'Expect: 100-continue, forged, and no body',
      expect: 'refused',
      pieces: ({ honest, path }) => [
        requestBytes(honest, path, {
          body: '',
          signed: [],
          framing: ['Content-Length: 4294967296'],
          more: ['Expect: 100-continue'],
        }),
      ],
    },
    {
      name: 'Expect: the impossible',
      expect: 'refused',
      pieces: ({ honest, path }) => [requestBytes(honest, path, { more: ['Expect: miracles'] })],
    },
    {
      name: 'an honest one beside 10,000 idle connections',
      expect: 'accepted',
      crowd: 10_000,
      pieces: ({ honest, path }) => [requestBytes(honest, path)],
    },
    {
      name: 'Upgrade: websocket',
      expect: 'any',
      pieces: ({ honest, path }) => [
        requestBytes(honest, path, { more: ['Upgrade: websocket', 'Sec-WebSocket-Version: 13'] }),
      ],
    },
  ],
};
