import crypto from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { WebhookError } from '../../src/index.ts';
import { generateSecret } from '../../src/index.ts';
import { keysOf } from '../../src/signature/secrets.ts';
import { secretBytes } from '../../src/signature/secrets.ts';
import { SECRET, SEED } from '../support.ts';

const thrown = (run: () => unknown): WebhookError => {
  try {
    run();
  } catch (error) {
    return error as WebhookError;
  }
  throw new Error('nothing was thrown');
};

describe('secretBytes', () => {
  it.each([
    ['undefined', undefined, 'environment variable'],
    ['null', null, 'not a string but null'],
    ['a number', 42, 'not a string but number'],
    ['empty', '', 'environment variable'],
    ['white space around it', ` ${SECRET}`, 'white space'],
    ['a line break after it', `${SECRET}\n`, 'white space'],
    ['no prefix', SECRET.slice(6), 'does not start with whsec_'],
    ['another case of the prefix', SECRET.replace('whsec_', 'WHSEC_'), 'does not start with'],
    ['nothing after the prefix', 'whsec_', 'nothing after'],
    ['not base64', 'whsec_!!!!not-base64!!!!aaaaaaaa', 'not base64'],
    ['base64url', 'whsec_C2FVsBQIhrscChlQIMV-b5sSYspob7oD', 'not base64'],
    ['truncated', SECRET.slice(0, -3), 'truncated'],
    ['wrong padding', `${SECRET}==`, 'truncated'],
    ['15 bytes', `whsec_${Buffer.alloc(15).toString('base64')}`, 'too short: it has 15 bytes'],
  ])('refuses %s', (_name, text, message) => {
    const error = thrown(() => secretBytes(text));
    expect(error.code).toBe('invalid-secret');
    expect(error.message).toContain(message);
    if (typeof text === 'string' && text.length > 10)
      expect(error.message).not.toContain(text.slice(8, 20));
  });

  it('decodes every secret of 16 bytes and more, with and without padding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 80 }), (raw) => {
        const base64 = Buffer.from(raw).toString('base64');
        expect([...secretBytes(`whsec_${base64}`)]).toEqual([...raw]);
        expect([...secretBytes(`whsec_${base64.replace(/=+$/, '')}`)]).toEqual([...raw]);
      }),
      { seed: SEED },
    );
  });
});

describe('generateSecret', () => {
  it('makes secrets of the given size, all different', () => {
    expect(secretBytes(generateSecret())).toHaveLength(24);
    for (const size of [16, 17, 64, 1024])
      expect(secretBytes(generateSecret(size))).toHaveLength(size);
    expect(new Set(Array.from({ length: 100 }, () => generateSecret())).size).toBe(100);
  });

  it.each([15, 1025, 24.5, NaN, -1])('refuses a size of %p', (size) => {
    const { code, message } = thrown(() => generateSecret(size));
    expect(code).toBe('invalid-secret');
    expect(message).toContain(`A secret must have 16 to 1024 bytes, not ${String(size)}.`);
  });
});

describe('keysOf', () => {
  it('names secrets by their position unless they have an id', () => {
    const keys = keysOf([SECRET, { id: 'new', secret: generateSecret() }, generateSecret()]);
    expect(keys.map((key) => key.id)).toEqual(['secret-1', 'new', 'secret-3']);
  });

  it.each([
    ['an empty list', [], 'is empty'],
    ['an empty id', [{ id: '', secret: SECRET }], 'is { id, secret }'],
    ['no id', [{ secret: SECRET }], 'is { id, secret }'],
    ['null', [null], 'null'],
    ['a named non-secret', [{ id: 'a', secret: 'nope' }], 'whsec_'],
    ['one bad secret among good ones', [SECRET, 'nope'], 'whsec_'],
  ])('refuses %s, and says why', (_name, secret, why) => {
    const { code, message } = thrown(() => keysOf(secret));
    expect(code).toBe('invalid-secret');
    expect(message).toContain(why);
  });

  it('keeps at most 64 prepared keys', () => {
    const prepare = jest.spyOn(crypto, 'createSecretKey');
    const timesPrepared = (secrets: string[]) => {
      prepare.mockClear();
      keysOf(secrets);
      return prepare.mock.calls.length;
    };
    const first = generateSecret();
    expect(timesPrepared([first])).toBe(1);
    expect(timesPrepared([first])).toBe(0);
    expect(timesPrepared(Array.from({ length: 64 }, () => generateSecret()))).toBe(64);
    expect(timesPrepared([first])).toBe(1);
    const many = Array.from({ length: 60 }, () => generateSecret());
    timesPrepared(many); // which may have emptied the cache on the way
    timesPrepared(many);
    expect(timesPrepared(many)).toBe(0);
    prepare.mockRestore();
  });

  it('decodes a list again that has changed', () => {
    const list = [generateSecret()];
    expect(keysOf(list)).toHaveLength(1);
    list.push(generateSecret());
    expect(keysOf(list)).toHaveLength(2);
  });

  it('works with more secrets than it caches', () => {
    const many = Array.from({ length: 200 }, () => generateSecret());
    expect(keysOf(many)).toHaveLength(200);
    expect(keysOf(many[0])).toHaveLength(1);
  });
});
