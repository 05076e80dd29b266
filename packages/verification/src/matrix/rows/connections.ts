import { requestBytes } from '../request-bytes.ts';
import type { SocketStep } from '../raw-socket.ts';
import type { Row, RowGroup, RowContext } from '../row.ts';

/** The request of a valid delivery, split at a position in the body. */
function cut({ valid, path }: RowContext, bodyBytes: number): readonly [Buffer, Buffer] {
  const whole = requestBytes(valid, path);
  const at = whole.length - valid.body.length + bodyBytes;
  return [whole.subarray(0, at), whole.subarray(at)];
}

const RESET = { end: 'rst' } as const;
const HALF_CLOSE = { end: 'fin' } as const;

const gone = (name: string, steps: (context: RowContext) => readonly SocketStep[]): Row => ({
  name,
  expect: 'any',
  responses: 0,
  steps,
});

const HEADERS_TIMEOUT_MS = 500;

/** Node itself responds 408 to these after `headersTimeout`. */
const slowHeaders = (name: string, steps: Row['steps']): Row => ({
  name,
  expect: 'refused',
  headersTimeoutMs: HEADERS_TIMEOUT_MS,
  steps,
});

export const connections: RowGroup = {
  title: 'Connections',
  rows: [
    gone('gone at once', () => [RESET]),
    gone('gone in the request line', () => ['POS', RESET]),
    gone('gone in the headers', ({ valid, path }) => [
      requestBytes(valid, path).subarray(0, 60),
      RESET,
    ]),
    gone('gone after the headers', (context) => [cut(context, 0)[0], { wait: 20 }, RESET]),
    gone('gone in the body', (context) => [cut(context, 9)[0], { wait: 20 }, RESET]),
    gone('gone after the body', ({ valid, path }) => [requestBytes(valid, path), RESET]),
    gone('gone in a chunk', ({ valid, path }) => [
      requestBytes(valid, path, { framing: ['Transfer-Encoding: chunked'], body: 'ff\r\nhalf' }),
      { wait: 20 },
      RESET,
    ]),
    slowHeaders('a connection that says nothing', () => []),
    slowHeaders('headers that stop', ({ valid, path }) => [
      requestBytes(valid, path).subarray(0, 60),
    ]),
    slowHeaders('headers that come byte by byte', ({ valid, path }) => [
      { drip: requestBytes(valid, path), everyMs: 40 },
    ]),
    {
      name: 'half-closed in the headers',
      expect: 'refused',
      steps: ({ valid, path }) => [requestBytes(valid, path).subarray(0, 60), HALF_CLOSE],
    },
    {
      name: 'half-closed after the request',
      expect: 'accepted',
      steps: ({ valid, path }) => [requestBytes(valid, path), HALF_CLOSE],
    },
    {
      name: 'half-closed in the body',
      expect: 'any',
      steps: (context) => [cut(context, 9)[0], HALF_CLOSE],
    },
    {
      name: 'a body that stops',
      expect: 'refused',
      steps: (context) => [cut(context, 9)[0]],
    },
    {
      name: 'a body that never begins',
      expect: 'refused',
      steps: (context) => [cut(context, 0)[0]],
    },
    {
      name: 'a body that comes byte by byte',
      expect: 'refused',
      steps: (context) => {
        const [headers, body] = cut(context, 0);
        return [headers, { drip: body, everyMs: 150 }];
      },
    },
    {
      name: 'a body in two packets',
      expect: 'accepted',
      steps: (context) => {
        const [first, second] = cut(context, 9);
        return [first, { wait: 20 }, second];
      },
    },
    {
      name: 'Expect: 100-continue',
      expect: 'accepted',
      steps: ({ valid, path }) => [
        requestBytes(valid, path, {
          body: '',
          framing: [`Content-Length: ${String(valid.body.length)}`],
          more: ['Expect: 100-continue'],
        }),
        { until: '100 Continue' },
        valid.body,
      ],
    },
    {
      name: 'Expect: 100-continue, forged, and no body',
      expect: 'refused',
      steps: ({ valid, path }) => [
        requestBytes(valid, path, {
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
      steps: ({ valid, path }) => [requestBytes(valid, path, { more: ['Expect: miracles'] })],
    },
    {
      name: 'an honest one beside 10,000 idle connections',
      expect: 'accepted',
      idleConnections: 10_000,
      steps: ({ valid, path }) => [requestBytes(valid, path)],
    },
    {
      name: 'Upgrade: websocket',
      expect: 'any',
      steps: ({ valid, path }) => [
        requestBytes(valid, path, { more: ['Upgrade: websocket', 'Sec-WebSocket-Version: 13'] }),
      ],
    },
  ],
};
