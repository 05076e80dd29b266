import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { checkBody, checkRequest, unreadable } from '../../src/http/request.ts';
import { readWebBody } from '../../src/http/web-body.ts';

const LIMITS = { bodyLimit: 10, bodyTimeout: 60_000 };
const URL = 'https://hooks.example.test/hook';

const post = (body?: string | ReadableStream) =>
  new Request(URL, { method: 'POST', body: body ?? null, duplex: 'half' });

/** The timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

afterEach(() => void jest.restoreAllMocks());

describe('readWebBody', () => {
  it('refuses a body that somebody else is reading', async () => {
    const request = post('body');
    const reader = request.body!.getReader();
    expect(request.bodyUsed).toBe(false);
    await expect(readWebBody(request, LIMITS)).rejects.toMatchObject({
      code: 'body-already-parsed',
    });
    reader.releaseLock();
    expect(await readWebBody(request, LIMITS)).toEqual(new TextEncoder().encode('body'));
  });

  it('refuses a body that somebody else has read and let go of', async () => {
    const request = post('body');
    const reader = request.body!.getReader();
    await reader.read();
    reader.releaseLock();
    expect(request.body!.locked).toBe(false);
    await expect(readWebBody(request, LIMITS)).rejects.toMatchObject({
      code: 'body-already-parsed',
    });
  });

  it('leaves no timer behind, once a body was read or refused', async () => {
    const before = timers();
    await readWebBody(post('body'), LIMITS);
    await expect(readWebBody(post('more than 10 bytes'), LIMITS)).rejects.toThrow();
    expect(timers()).toBe(before);
  });

  it('works where timers are numbers, as on Workers', async () => {
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((() => 1) as never);
    await expect(readWebBody(post('more than 10 bytes'), LIMITS)).rejects.toMatchObject({
      code: 'body-too-large',
    });
  });

  it('names the option that a body exceeds', async () => {
    await expect(readWebBody(post('more than 10 bytes'), LIMITS)).rejects.toThrow(
      'larger than bodyLimit, 10 bytes',
    );
    const silent = post(new ReadableStream());
    await expect(readWebBody(silent, { bodyLimit: 10, bodyTimeout: 1 })).rejects.toThrow(
      'bodyTimeout, 1 ms, is over',
    );
  });
});

describe('checkBody', () => {
  it('asks for raw bytes when it gets a parsed body', () => {
    expect(() => checkBody({ id: 1 }, 10)).toThrow(
      /signature can't be checked\. Pass the raw bytes/,
    );
  });

  it('takes a body of exactly the limit, and none that is longer', () => {
    expect(checkBody(new Uint8Array(10), 10)).toHaveLength(10);
    expect(() => checkBody(new Uint8Array(11), 10)).toThrow('larger than bodyLimit, 10 bytes');
  });
});

describe('readFailure', () => {
  it.each([{ status: 413 }, { statusCode: 413 }])(
    'knows the limit of a host by its error with %j',
    (error) => {
      const failure = unreadable(Object.assign(new Error('too big'), error));
      expect(failure.code).toBe('body-too-large');
    },
  );
});

describe('checkRequest', () => {
  const check = (method: string, headers: Record<string, string>) => () => {
    checkRequest({ method, headers }, 10);
  };

  it('takes a body whose encoding is empty or identity', () => {
    expect(check('POST', { 'content-encoding': '' })).not.toThrow();
    expect(check('POST', { 'content-encoding': 'Identity' })).not.toThrow();
  });

  it('says what is wrong with a request', () => {
    expect(check('GET', {})).toThrow('sent with POST');
    expect(check('POST', { 'content-encoding': 'gzip' })).toThrow('compressed');
    expect(check('POST', { 'content-length': '11' })).toThrow('larger than bodyLimit, 10 bytes');
  });
});
