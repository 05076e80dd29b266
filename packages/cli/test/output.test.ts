import { PassThrough, Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { Io } from '../src/io.ts';
import { Output } from '../src/terminal/output.ts';
import { text } from '../src/terminal/text.ts';

// Where data, messages and warnings go, and how long a slow reader is waited for.

/** Two streams of different widths, and what is written to them. */
function streams(isTTY = true) {
  const texts = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof texts, columns: number) =>
    Object.assign(
      new Writable({
        write(piece: Buffer, _encoding, done) {
          texts[name] += piece.toString();
          done();
        },
      }),
      { isTTY, columns },
    );
  const { signal } = new AbortController();
  const io = { stdout: sink('stdout', 20), stderr: sink('stderr', 30), env: { NO_COLOR: '1' } };
  return { texts, io: { ...io, signal } as unknown as Io };
}
const WORDS = 'one two three four five six seven';

test.each<[flags: { json?: boolean; wide?: boolean }, isTTY: boolean, texts: object]>([
  [
    {},
    true,
    {
      stdout: 'one two three four\nfive six seven\n',
      stderr: 'one two three four five six\nseven\nwarning: one two three four\nfive six seven\n',
    },
  ],
  [{ wide: true }, true, { stdout: `${WORDS}\n`, stderr: `${WORDS}\nwarning: ${WORDS}\n` }],
  [{}, false, { stdout: `${WORDS}\n`, stderr: `${WORDS}\nwarning: ${WORDS}\n` }],
  [{ json: true }, true, { stdout: '{"a":1}\n', stderr: `{"warning":"${WORDS}"}\n` }],
  [{ json: true, wide: true }, false, { stdout: '{"a":1}\n', stderr: `{"warning":"${WORDS}"}\n` }],
])('with %j, at a terminal: %s', async (flags, isTTY, expected) => {
  const { texts, io } = streams(isTTY);
  const output = new Output(io, flags);
  await output.print({ a: 1 }, () => text(WORDS));
  output.message(WORDS);
  output.warn(WORDS);
  expect(texts).toEqual(expected);
});

test.each([
  [{}, true, 20, 30],
  [{ wide: true }, true, Infinity, Infinity],
  [{}, false, Infinity, Infinity],
])(
  'with %j, at a terminal: %s: data has %d columns, and messages have %d',
  (flags, isTTY, data, messages) => {
    const output = new Output(streams(isTTY).io, flags);
    expect([output.columns, output.messageColumns]).toEqual([data, messages]);
  },
);

/** A stream that is full, and whether the write that waits for it has ended. */
function writing() {
  const stdout = new PassThrough({ highWaterMark: 1 });
  const controller = new AbortController();
  const output = new Output(
    { stdout, stderr: stdout, env: {}, signal: controller.signal } as never,
    {},
  );
  const state = { isOver: false };
  const written = output.write('long').then(() => (state.isOver = true));
  return { stdout, controller, output, state, written };
}
const settled = () => new Promise(setImmediate);

test.each<[how: string, end: (given: ReturnType<typeof writing>) => unknown]>([
  ['there is room', ({ stdout }) => stdout.resume()],
  ['the pipe is closed', ({ stdout }) => stdout.destroy()],
  ['the program is stopped', ({ controller }) => controller.abort()],
])('a write to a full pipe waits until %s', async (_how, end) => {
  const given = writing();
  await settled();
  expect(given.state.isOver).toBe(false);
  end(given);
  await given.written;
  expect(given.stdout.listenerCount('drain')).toBe(0);
});

test('a write to a closed pipe waits for nothing', async () => {
  const { stdout, output, written } = writing();
  stdout.destroy();
  await written;
  await output.write('more');
  await output.print({ a: 1 }, () => []);
});
