import { describe, expect, test } from '@jest/globals';
import { InvalidResponseError, NetworkError } from '../../src/errors/index.ts';
import { expectedLength, hasBegun, readText, checkedBody } from '../../src/http/body.ts';
import { createDeadline } from '../../src/http/deadline.ts';
import { createRedactor } from '../../src/http/redact.ts';
import { TestClock, TIMEOUT } from '../support/clock.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function watched(
  source: ReadableStream<Uint8Array> | string | null,
  headers: Record<string, string> = {},
  clock = new TestClock(),
): ReadableStream<Uint8Array> {
  const deadline = createDeadline(clock, TIMEOUT, 'GET /', undefined);
  const response = new Response(source as never, { headers });
  return checkedBody({ response, redactor: createRedactor(['tok']) }, deadline, 'GET /');
}

test('the expected length is that of the plain bytes', () => {
  const of = (headers: Record<string, string>) => expectedLength(new Response('', { headers }));
  expect(of({ 'content-length': '12' })).toBe(12);
  expect(of({ 'content-length': '12', 'content-encoding': 'identity' })).toBe(12);
  expect(of({ 'content-length': '12', 'content-encoding': 'gzip' })).toBeUndefined();
  expect(of({ 'content-length': 'x' })).toBeUndefined();
  expect(of({})).toBeUndefined();
});

describe('a watched body', () => {
  test.each([
    ['10', 'has 5 bytes where 10 were announced'],
    ['3', 'has 5 bytes where 3 were announced'],
  ])('of five bytes with content-length %s is an error', async (length, message) => {
    const reading = readText(watched('hello', { 'content-length': length }), 100, 'GET /');
    await expect(reading).rejects.toThrow(NetworkError);
    await expect(
      readText(watched('hello', { 'content-length': length }), 100, 'GET /'),
    ).rejects.toThrow(message);
  });

  test('turns what breaks it into a clean NetworkError', async () => {
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset with tok')),
    });
    await expect(readText(watched(source), 100, 'GET /')).rejects.toMatchObject({
      code: 'network',
      maybeSent: true,
      cause: { message: 'reset with [hidden]' },
    });
  });

  test('reads nothing before it is read, and has a limit only while it is', async () => {
    let pulled = 0;
    const clock = new TestClock();
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++;
          controller.enqueue(bytes('x'));
        },
      },
      { highWaterMark: 0 },
    );
    const body = watched(source, {}, clock);
    await Promise.resolve();
    expect([pulled, clock.armed, hasBegun(body)]).toEqual([0, 0, false]);
    const reader = body.getReader();
    await reader.read();
    expect([pulled, clock.armed]).toEqual([1, 0]);
    reader.releaseLock();
    expect(hasBegun(body)).toBe(true);
  });

  test('that stays silent is a TimeoutError', async () => {
    const clock = new TestClock();
    const body = watched(
      new ReadableStream({ pull: () => new Promise(() => undefined) }),
      {},
      clock,
    );
    const armed = clock.nextTimeout();
    const reading = readText(body, 100, 'GET /');
    await armed;
    clock.expire();
    await expect(reading).rejects.toMatchObject({ code: 'timeout', phase: 'body' });
  });

  test('does not take the end that an abort makes for the end of the answer', async () => {
    // Promises of streams belong to another realm than Jest's, and lose races that they win outside.
    let settle: (result: { done: boolean }) => void;
    const reader = {
      read: () => new Promise((resolve) => (settle = resolve)),
      cancel: async () => settle({ done: true }),
    };
    const response = { headers: new Headers(), body: { getReader: () => reader } };
    const answer = { response: response as never, redactor: createRedactor([]) };
    const clock = new TestClock();
    const controller = new AbortController();
    const deadline = createDeadline(clock, TIMEOUT, 'GET /', controller.signal);
    const armed = clock.nextTimeout();
    const reading = readText(checkedBody(answer, deadline, 'GET /'), 100, 'GET /');
    await armed;
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  test('passes a cancel on', async () => {
    let reason: unknown;
    await watched(new ReadableStream({ cancel: (why) => void (reason = why) })).cancel('enough');
    expect(reason).toBe('enough');
  });
});

describe('readText', () => {
  test('decodes characters that are cut in two, and takes no body at all', async () => {
    const [a, b] = [bytes('é').subarray(0, 1), bytes('é').subarray(1)];
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(a);
        controller.enqueue(b);
        controller.close();
      },
    });
    await expect(readText(watched(source), 100, 'GET /')).resolves.toBe('é');
    await expect(readText(watched(null), 100, 'GET /')).resolves.toBe('');
  });

  test('refuses what is too long', async () => {
    await expect(readText(watched('hello'), 5, 'GET /')).resolves.toBe('hello');
    await expect(readText(watched('hello'), 4, 'GET /')).rejects.toBeInstanceOf(
      InvalidResponseError,
    );
  });
});
