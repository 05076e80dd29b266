import { describe, expect, it } from '@jest/globals';
import { checkOptions, option } from '../src/index.ts';

const rules = {
  rememberFor: option.rememberFor(),
  pollEvery: option.default(option.milliseconds(1), 500),
  maxAttempts: option.default(option.count(1, 10), 3),
  backoff: option.backoff(5_000, 60_000),
};
const check = (options?: object) => checkOptions('aQueue', rules, options);

describe('checkOptions', () => {
  it('fills in the defaults', () => {
    const defaults = {
      rememberFor: 86_400_000,
      pollEvery: 500,
      maxAttempts: 3,
      backoff: { initialDelay: 5_000, maxDelay: 60_000 },
    };
    expect(check()).toEqual(defaults);
    expect(check({ rememberFor: undefined, backoff: undefined })).toEqual(defaults);
    expect(check({ backoff: { initialDelay: 7 } }).backoff).toEqual({
      initialDelay: 7,
      maxDelay: 60_000,
    });
  });

  it.each([NaN, Infinity, -1, 0, 599_999, 600_000.5, '600000', null, 2 ** 53])(
    'refuses rememberFor: %p',
    (rememberFor) => {
      expect(() => check({ rememberFor })).toThrow(
        expect.objectContaining({
          code: 'invalid-options',
          message: expect.stringContaining(
            'Invalid options of aQueue: rememberFor: expected whole milliseconds from 600000',
          ),
        }),
      );
    },
  );

  it('names every invalid option, and options that do not exist', () => {
    const invalid = {
      pollEvery: 2 ** 31,
      maxAttempts: 0,
      backoff: { initialDelay: NaN },
      attempts: 3,
    };
    for (const name of ['pollEvery: ', 'maxAttempts: ', 'backoff.initialDelay: ', '"attempts"'])
      expect(() => check(invalid)).toThrow(name);
    expect(() => checkOptions('aQueue', rules, null)).toThrow('aQueue');
  });
});
