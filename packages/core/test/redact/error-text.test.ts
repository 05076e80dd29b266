import { describe, expect, it } from '@jest/globals';
import { describeError, stackFrames } from '../src/redact.ts';
import { redactedError } from '../src/redact.ts';

describe('describeError', () => {
  it('tells an error, a text, and the kind of anything else', () => {
    expect(describeError(new TypeError('no'))).toBe('TypeError: no');
    expect(describeError('plain Ada', { name: 'Ada' })).toBe('plain [redacted]');
    expect(describeError({ name: 'Ada' })).toBe('a thrown object');
    expect(describeError(undefined)).toBe('a thrown undefined');
    expect(describeError(null)).toBe('a thrown object');
  });

  it('never throws, whatever it is given', () => {
    const trap = new Error('x');
    Object.defineProperty(trap, 'message', {
      get() {
        throw new Error('trapped');
      },
    });
    expect(describeError(trap)).toBe('an error that cannot be read');
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(describeError(new Error('Ada'), cyclic)).not.toContain('Ada');
    expect(describeError(Object.assign(new Error('x'), { message: 7 }))).toEqual(
      expect.any(String),
    );
  });
});

describe('stackFrames', () => {
  it('keeps the frames, ten at most, and nothing of the message', () => {
    const error = new Error('for Ada\n    at Ada Lovelace\n    at +1 555 010 4477');
    const frames = stackFrames(error).split('\n');
    expect(frames.length).toBeGreaterThan(0);
    expect(frames.length).toBeLessThanOrEqual(10);
    expect(frames.join()).toContain('redacted-error.test.ts');
    expect(frames.join()).not.toMatch(/Ada Lovelace|555 010/);
  });

  it('is empty for what has no frames', () => {
    expect(stackFrames('text')).toBe('');
    expect(stackFrames(Object.assign(new Error('x'), { stack: undefined }))).toBe('');
    const trap = new Error('x');
    Object.defineProperty(trap, 'stack', {
      get() {
        throw new Error('trapped');
      },
    });
    expect(stackFrames(trap)).toBe('');
  });
});

describe('redactedError', () => {
  it('makes errors whose message and stack are both clean', () => {
    const error = redactedError('handler-failed', 'Failed: ', new Error('Ada Lovelace'), {
      name: 'Ada Lovelace',
    });
    expect(error).toMatchObject({ code: 'handler-failed', message: 'Failed: Error: [redacted]' });
    expect(error.stack).not.toContain('Lovelace');
    expect(error.cause).toBeUndefined();
  });
});
