import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { WebhookError } from '../src/index.ts';
import { checkOptions, option } from '../src/stores.ts';

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

  it.each<[unknown, string]>([
    [null, 'expected an object'],
    [{ backoff: [] }, 'backoff: expected an object'],
    [{ backoff: { delay: 1 } }, 'backoff: there is no option "delay"'],
    [{ attempts: 3, tries: 3 }, 'there is no option "attempts", "tries"'],
    [
      { maxAttempts: 0, tries: 3 },
      'maxAttempts: expected a whole number from 1 to 10; there is no option "tries"',
    ],
  ])('of %j says: %s', (options, message) => {
    expect(() => checkOptions('aQueue', rules, options)).toThrow(
      `Invalid options of aQueue: ${message}. See`,
    );
  });

  it('says which option is missing', () => {
    expect(() => checkOptions('aQueue', { name: option.string() })).toThrow('name: it is missing');
  });

  it('takes functions by name from an object of a class', () => {
    class Depths {
      orders = () => 1;
    }
    const queues = option.record(option.function<() => number>());
    expect(checkOptions('anObserver', { queues }, { queues: new Depths() }).queues).toHaveProperty(
      'orders',
    );
  });

  it('never shows a value, whatever messages the app has set for its own zod', () => {
    const { customError } = z.config();
    z.config({ customError: ({ input }) => JSON.stringify(input) });
    try {
      const options = { backoff: 'a-secret', maxAttempts: 'a-secret', more: 'a-secret' };
      expect(() => checkOptions('aQueue', rules, options)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('a-secret') }),
      );
    } finally {
      z.config({ customError });
    }
  });
});

describe('an error that says what to read', () => {
  it.each([
    ['a page', 'stores.md#redis', /stores\.html#redis$/],
    [
      'the site of another store',
      'https://example.com/store.md#x',
      /https:\/\/example\.com\/store\.md#x$/,
    ],
    ['nothing, and so its section', undefined, /outcomes\.html#invalid-options$/],
  ])('links to %s', (_what, docs, link) => {
    expect(new WebhookError('invalid-options', 'No.', { docs }).message).toMatch(link);
    expect(() => checkOptions('myStore', rules, { misspelt: 1 }, docs)).toThrow(link);
  });
});
