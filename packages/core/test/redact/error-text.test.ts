import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import pino from 'pino';
import {
  copiedFrames,
  describeError,
  type ErrorCopy,
  redactedCopy,
  redactedError,
} from '../../src/report/error-text.ts';
import { createRedactor } from '../../src/report/redact.ts';
import { contentOf } from './payload.ts';

const refused = () =>
  Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:5432'), { code: 'ECONNREFUSED' });
const copyOf = (error: unknown, content?: unknown) =>
  redactedCopy(error, createRedactor('standard', contentOf(content)));

describe('describeError', () => {
  it('tells an error, a text, and the kind of anything else', () => {
    expect(describeError(new TypeError('no'))).toBe('TypeError: no');
    expect(describeError(new Error(''))).toBe('Error');
    expect(describeError('plain Grace', contentOf({ name: 'Grace' }))).toBe('plain [redacted]');
    expect(
      describeError({ status: 5, 'Ada Lovelace': 1 }, contentOf({ name: 'Ada Lovelace' })),
    ).toBe('a thrown object with status, [redacted]');
    expect(describeError({})).toBe('a thrown object');
    expect(describeError(undefined)).toBe('a thrown undefined');
    expect(describeError(null)).toBe('a thrown null');
    expect(describeError(4477)).toBe('a thrown number');
  });

  it('tells errors of other realms, and objects that look like errors', () => {
    expect(describeError(runInNewContext('new RangeError("no")'))).toBe('RangeError: no');
    expect(describeError({ name: 'ApiError', message: 'no', code: 42 })).toBe('ApiError: no [42]');
  });

  it('tells the code, unless the message has it', () => {
    expect(describeError(refused())).toBe('Error: connect ECONNREFUSED 10.0.0.5:5432');
    expect(describeError(Object.assign(new Error('no'), { code: '23505' }))).toBe(
      'Error: no [23505]',
    );
  });

  it('tells the causes', () => {
    const error = new TypeError('fetch failed', { cause: refused() });
    expect(describeError(error)).toBe(
      'TypeError: fetch failed; cause: Error: connect ECONNREFUSED 10.0.0.5:5432',
    );
    expect(describeError(new Error('no', { cause: 'a text' }))).toBe('Error: no; cause: a text');
  });

  it('does not repeat what only wraps an error', () => {
    const inner = new Error('no', { cause: new Error('why') });
    expect(describeError(new RangeError('no', { cause: inner }))).toBe(
      'RangeError: no; cause: Error: why',
    );
    expect(describeError(new RangeError('no', { cause: new Error('no') }))).toBe('RangeError: no');
  });

  it('tells the parts of an AggregateError', () => {
    const parts = [refused(), new Error('connect ECONNREFUSED ::1:5432'), 'not an error'];
    const error = Object.assign(new AggregateError(parts), { code: 'ECONNREFUSED' });
    expect(describeError(error)).toBe(
      'AggregateError [ECONNREFUSED]; errors: Error: connect ECONNREFUSED 10.0.0.5:5432, Error: connect ECONNREFUSED ::1:5432',
    );
  });

  it('cuts cycles, and what is too deep, too many or too long', () => {
    const cyclic = new Error('round');
    cyclic.cause = new Error('and', { cause: cyclic });
    expect(describeError(cyclic)).toBe('Error: round; cause: Error: and');
    let deep = new Error('0');
    for (let at = 1; at < 100; at++) deep = new Error(String(at), { cause: deep });
    expect(describeError(deep).split('cause:')).toHaveLength(6);
    const parts = Array.from({ length: 1_000 }, (_, at) => new Error(`part ${String(at)}`));
    expect(describeError(new AggregateError(parts, 'many')).split('part')).toHaveLength(20);
    const long = new AggregateError(parts.map(() => new Error('x '.repeat(3_000))));
    expect(describeError(long).length).toBeLessThanOrEqual(8_000);
  });

  it('tells the length of messages beyond 100,000 characters in all', () => {
    const parts = Array.from({ length: 3 }, () => new Error('x '.repeat(30_000)));
    expect(describeError(new AggregateError(parts, 'many'))).toMatch(
      /^AggregateError: many; errors: Error: (?:x ){2000}… \(60000 characters\), Error: a message of 60000 characters, Error: a message of 60000 characters$/,
    );
  });

  it('never throws, whatever it is given', () => {
    const trap = new Error('x');
    Object.defineProperty(trap, 'message', {
      get() {
        throw new Error('trapped');
      },
    });
    expect(describeError(trap)).toBe('an error that cannot be read');
    expect(describeError(new Error('no', { cause: trap }))).toBe(
      'Error: no; cause: an error that cannot be read',
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(describeError(proxy)).toBe('an error that cannot be read');
    expect(describeError(Object.assign(new Error('x'), { message: 7 }))).toEqual(
      expect.any(String),
    );
  });

  it('redacts names, messages, codes and causes', () => {
    const cause = Object.assign(new Error('no Ada'), { name: 'AdaError Ada', code: 'E_Ada' });
    expect(describeError(new Error('Ada', { cause }), contentOf({ recipientName: 'Ada' }))).toBe(
      'Error: [redacted]; cause: AdaError [redacted]: no [redacted] [E_[redacted]]',
    );
  });
});

describe('redactedCopy', () => {
  const content = { recipientName: 'Ada Lovelace' };
  const error = new TypeError('fetch failed for Ada', { cause: refused() });

  it('has everything of an error, redacted', () => {
    const copy = copyOf(error, content);
    expect(copy).toBeInstanceOf(Error);
    expect(copy).toMatchObject({ name: 'TypeError', message: 'fetch failed for [redacted]' });
    expect(copy.cause).toMatchObject({ code: 'ECONNREFUSED' });
    expect(copy.stack).toMatch(/^TypeError: fetch failed for \[redacted\]\n +at .*error-text/);
    expect(JSON.stringify(copy) + String(copy.stack)).not.toMatch(/\bAda\b/);
  });

  it('is printed by pino with its type, message, stack and causes', () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    log.error({ err: copyOf(error, content) }, 'no');
    const { err } = JSON.parse(lines[0] ?? '') as { err: Record<string, string> };
    expect(err).toMatchObject({
      type: 'TypeError',
      message: 'fetch failed for [redacted]: connect ECONNREFUSED 10.0.0.5:5432',
    });
    expect(err['stack']).toMatch(/\n +at .*\ncaused by: Error: connect ECONNREFUSED.*\n +at /s);
  });

  it('is printed by JSON.stringify and inspect', () => {
    const parts = new AggregateError([refused()], 'both failed');
    expect(JSON.parse(JSON.stringify(copyOf(parts)))).toMatchObject({
      type: 'AggregateError',
      message: 'both failed',
      errors: [{ type: 'Error', code: 'ECONNREFUSED' }],
    });
    expect(inspect(copyOf(error))).toMatch(/TypeError: fetch failed.*\[cause\]: Error: connect/s);
  });

  it('has the parts of an AggregateError, and no parts of another', () => {
    expect(copyOf(new AggregateError([refused()], 'both failed'))).toHaveProperty('errors', [
      expect.objectContaining({ message: 'connect ECONNREFUSED 10.0.0.5:5432' }),
    ]);
    expect(copyOf(refused())).not.toHaveProperty('errors');
  });

  it('has no field but its code for loggers that list the fields of an error', () => {
    const parts = new AggregateError([refused()], 'both failed', { cause: refused() });
    expect(Object.keys(copyOf(parts))).toEqual([]);
    expect(Object.entries(copyOf(refused()))).toEqual([['code', 'ECONNREFUSED']]);
  });

  it('keeps ten frames at most, and nothing of a message that looks like one', () => {
    const tricky = new Error('for Ada\n    at Ada Lovelace (x:1:2)\n    at y:1:2');
    const frames = copyOf(tricky).stack?.split('\n').slice(1) ?? [];
    expect(frames.length).toBeGreaterThan(0);
    expect(frames.length).toBeLessThanOrEqual(10);
    expect(frames.join()).toContain('error-text.test.ts');
    expect(frames.join()).not.toMatch(/Ada Lovelace|y:1:2/);
  });

  it('has no frames where an error has none', () => {
    expect(copyOf('text').stack).toBe('text');
    expect(copyOf(Object.assign(new Error('x'), { stack: undefined })).stack).toBe('Error: x');
  });
});

describe('redactedError', () => {
  it('makes errors whose message and stack are both clean', () => {
    const error = redactedError(
      'handler-failed',
      'Failed: ',
      new Error('Ada Lovelace'),
      contentOf({ name: 'Ada Lovelace' }),
    );
    expect(error).toMatchObject({ code: 'handler-failed', message: 'Failed: Error: [redacted]' });
    expect(error.stack).not.toContain('Lovelace');
    expect(error.stack).toMatch(/\n +at /);
    expect(error.cause).toBeUndefined();
  });

  it('has the name of the event, if it is known', () => {
    const why = new Error('no');
    const failed = redactedError('invalid-payload', 'No: ', why, undefined, 'call:transferred');
    expect(failed.eventName).toBe('call:transferred');
  });
});

describe('the details of an error', () => {
  const read = (thrown: unknown): ErrorCopy =>
    redactedCopy(thrown, createRedactor('standard', contentOf({ recipientName: 'Ada Lovelace' })));

  /** An error whose stack is known. */
  const withStack = (message: string, ...lines: string[]) =>
    Object.assign(new Error(message), { stack: lines.join('\n') });

  class CrmError extends Error {}

  describe('the name of an error', () => {
    it.each([
      ['its own', 'ApiError', 'ApiError'],
      ['that of its class, if its own is empty', '', 'CrmError'],
      ['that of its class, if its own is no text', 404, 'CrmError'],
      ['a short one, whatever it is', 'x'.repeat(5_000), 'x'.repeat(100)],
    ])('is %s', (_which, name, told) => {
      expect(read(Object.assign(new CrmError('no'), { name }))).toMatchObject({
        name: told,
        message: 'no',
      });
    });

    it('is empty where it has no class', () => {
      const thrown: unknown = Object.assign(Object.create(null), { message: 'no' });
      expect(read(thrown)).toMatchObject({ name: '', message: 'no' });
    });

    it('is empty where its class has none', () => {
      expect(read({ message: 'no', constructor: {} })).toMatchObject({ name: '', message: 'no' });
    });
  });

  describe('the code of an error', () => {
    it.each([
      ['a text', 'E_REFUSED', 'E_REFUSED'],
      ['a number', 404, 404],
      ['a long text: its beginning', 'x'.repeat(5_000), 'x'.repeat(100)],
      ['a list: nothing', ['Ada'], undefined],
      ['an object: nothing', { name: 'Ada' }, undefined],
    ])('%s', (_what, code, told) => {
      expect(read(Object.assign(new Error('no'), { code })).code).toEqual(told);
    });
  });

  it('a cause that is null is none', () => {
    expect(read(new Error('no', { cause: null })).cause).toBeUndefined();
  });

  it('a thrown object is told by five of its fields at most', () => {
    const thrown = { url: 1, status: 2, body: 3, headers: 4, retries: 5, payload: 6, method: 7 };
    expect(read(thrown).message).toBe('a thrown object with url, status, body, headers, retries');
  });

  describe('the frames of an error', () => {
    it.each([
      [1_600, 10],
      [1_601, 9],
      [16_000, 1],
      [16_002, 0],
    ])('of %d characters each are %d, which are 16,000 at most', (length, kept) => {
      const ends = ['    at save (/app/', '.js:4:2)'];
      const frame = `\n${ends.join('x'.repeat(length - 1 - ends.join('').length))}`;
      const frames = Array<string>(12).fill(frame).join('');
      const told = copiedFrames(
        redactedCopy(withStack('no', `Error: no${frames}`), (text) => text),
      );
      expect(told.split('\n').filter((line) => line !== '')).toHaveLength(kept);
    });

    it('are those of its stack, one on each line', () => {
      const frames = ['    at save (/app/crm.js:4:2)', '    at async /app/calls.js:12:7'];
      expect(copiedFrames(read(withStack('no', 'Error: no', ...frames)))).toBe(frames.join('\n'));
    });

    it('are nothing else of a stack whose message has changed since', () => {
      const frame = '    at save (/app/crm.js:4:2)';
      const old = ['Error: Grace called', 'Grace looked at /people:1:2', ' at 10:30:00 by Grace'];
      expect(copiedFrames(read(withStack('changed', ...old, frame)))).toBe(frame);
    });

    it('are no lines of the message, however long the name before it is', () => {
      const frame = '    at save (/app/crm.js:4:2)';
      const message = 'no\n at Grace:1:2';
      const error = withStack(message, `ContactNotFoundError: ${message}`, frame);
      expect(copiedFrames(read(error))).toBe(frame);
    });
  });
});
