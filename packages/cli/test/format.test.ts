import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { bodyLines, dateTime, duration, size, timeOfDay } from '../src/terminal/format.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.each([
  [0, '0 ms'],
  [449.6, '450 ms'],
  [1_000, '1 s'],
  [4_200, '4.2 s'],
  [12_400, '12 s'],
  [MINUTE, '1 min'],
  [5 * MINUTE + 3_000, '5 min 3 s'],
  [59 * MINUTE, '59 min'],
  [HOUR, '1 h'],
  [HOUR + 59 * MINUTE, '1 h 59 min'],
  [2 * HOUR + 5 * MINUTE + 9_000, '2 h 5 min'],
  [100 * HOUR, '100 h'],
])('%d ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [1_500, '1.5 kB'],
  [999_900, '999.9 kB'],
  [1_000_000, '1.0 MB'],
  [2_500_000, '2.5 MB'],
])('%d bytes are %s', (bytes, text) => {
  expect(size(bytes)).toBe(text);
});

test('a time is in UTC, without its fraction', () => {
  const time = Date.UTC(2026, 0, 31, 16, 49, 39, 250);
  expect([dateTime(new Date(time)), timeOfDay(time)]).toEqual([
    '2026-01-31 16:49:39Z',
    '16:49:39Z',
  ]);
  expect(timeOfDay(NaN)).toBe('--:--:--Z');
});

test('of a body, so many lines are shown, and so much of each', () => {
  const shown = (body: string | Uint8Array, limit?: number) =>
    bodyLines(body, limit).map(({ plain }) => plain);
  expect(shown('')).toEqual([]);
  expect(shown('{"a":[1]}')).toEqual(['{', '  "a": [', '    1', '  ]', '}']);
  expect(shown('a\nb\r\nc\nd', 2)).toEqual(['a', 'b', '… 2 more lines']);
  expect(shown('a\nb\nc', 2)).toEqual(['a', 'b', '… 1 more line']);
  expect(shown('a\nb', 2)).toEqual(['a', 'b']);
  expect(shown('\n'.repeat(59))).toHaveLength(60);
  expect(shown('\n'.repeat(60)).at(-1)).toBe('… 1 more line');
  expect(shown(`${'x'.repeat(2_000)}\n${'y'.repeat(2_001)}`)).toEqual([
    'x'.repeat(2_000),
    `${'y'.repeat(2_000)}…`,
  ]);
  expect(shown(new Uint8Array([0xff, 0xfe]))).toEqual(['(2 bytes of binary data)']);
});

test('of a response that does not end, the first 64 KiB are read', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const to = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
  const startedAt = performance.now();
  const sent = await run(['send', 'call:started', '--to', to, '--secret', SECRET, '--json']);
  expect(sent.records()).toMatchObject([{ response: { status: 200, body: 'x'.repeat(65_536) } }]);
  expect(performance.now() - startedAt).toBeLessThan(20_000); // before the time limit of 30 s
  server.closeAllConnections();
  server.close();
});
