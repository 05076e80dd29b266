import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { describeError, scrub, stackFrames } from '../src/scrub.ts';
import { scrubbedError } from '../src/scrubbed-error.ts';
import { SECRET, SEED } from './support.ts';

const PAYLOAD = {
  eventName: 'call:started',
  callId: 'call-1',
  to: '+1 (555) 010-0199',
  contact: { name: 'Ada Lovelace', mail: 'ada@example.test', pin: 4711 },
};

describe('scrub', () => {
  it.each([
    ['a phone number', 'no answer from +15550100199', '+15550100199'],
    ['a phone number with spaces', 'call (555) 010-0199 again', '010-0199'],
    ['an e-mail address', 'bounced: ada@example.test', 'ada@'],
    ['a secret', `with ${SECRET}!`, SECRET.slice(6, 16)],
    ['the password of a URL', 'redis://user:pass@localhost:6379', 'pass'],
    ['a number of the body', 'PIN 4711 is wrong', '4711'],
    ['a name of the body', 'no such customer: ada LOVELACE', 'LOVELACE'],
    ['a first name of the body', 'Hello Ada,', 'Ada'],
  ])('takes out %s', (_name, text, planted) => {
    expect(scrub(text, PAYLOAD)).not.toContain(planted);
    expect(scrub(text, PAYLOAD)).toContain('[redacted]');
  });

  it('keeps what tells events apart, and words that only contain a value', () => {
    expect(scrub('call-1 call:started adamant', PAYLOAD)).toBe('call-1 call:started adamant');
    expect(scrub('connect ECONNREFUSED', PAYLOAD)).toBe('connect ECONNREFUSED');
  });

  it('withholds a text when the body has too many values', () => {
    const many = Array.from({ length: 600 }, (_, i) => `value${String(i)}`);
    expect(scrub('value599', many)).not.toContain('value599');
  });

  it('takes every text of a payload out, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2 }), (planted) => {
        fc.pre(!'[redacted]'.includes(planted));
        expect(scrub(`<${planted}>`, { planted })).toBe('<[redacted]>');
      }),
      // Planted texts that a word character ends or begins stand alone between the brackets.
      { seed: SEED, examples: [['$&'], ['a.*b'], ['(((']] },
    );
  });
});

describe('describeError and stackFrames', () => {
  it.each<[string, unknown, string]>([
    ['an Error', new TypeError('no'), 'TypeError: no'],
    ['a text', 'no', 'no'],
    ['nothing', undefined, 'a thrown undefined'],
    ['null', null, 'a thrown object'],
    ['a record', { phone: '+15550100199' }, 'a thrown object'],
  ])('reads %s', (_name, error, expected) => {
    expect(describeError(error)).toBe(expected);
  });

  it('never throws', () => {
    const hostile = Object.create(Error.prototype, {
      message: {
        get() {
          throw new Error('hostile');
        },
      },
      stack: {
        get() {
          throw new Error('hostile');
        },
      },
    }) as Error;
    expect(describeError(hostile)).toBe('an error that can not be read');
    expect(stackFrames(hostile)).toBe('');
    expect(stackFrames('text')).toBe('');
  });

  it('leaves the message out of the frames, and keeps the frames', () => {
    const error = new Error('Ada Lovelace\nof London');
    expect(stackFrames(error)).toContain('scrub.test');
    expect(stackFrames(error)).not.toContain('London');
  });

  it('makes errors whose message and stack are both clean', () => {
    const error = scrubbedError('handler-failed', 'Failed: ', new Error('Ada Lovelace'), PAYLOAD);
    expect(error).toMatchObject({ code: 'handler-failed', message: 'Failed: Error: [redacted]' });
    expect(error.stack).not.toContain('Lovelace');
    expect(error.cause).toBeUndefined();
  });
});
