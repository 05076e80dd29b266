import { describe, expect, it } from '@jest/globals';
import { copiedFrames, redactedCopy, type ErrorCopy } from '../../src/report/error-text.ts';
import { createRedactor } from '../../src/report/redact.ts';

const read = (thrown: unknown): ErrorCopy =>
  redactedCopy(thrown, createRedactor('standard', { body: { recipientName: 'Ada Lovelace' } }));

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
