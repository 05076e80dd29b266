import crypto, { createHmac } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { equalText, hmacBase64, prepareKey } from '../../src/hmac/node-crypto.ts';
import { runs, SEED } from '../support.ts';

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_none, index) => first + index);
const ascii = fc.string({
  unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
  maxLength: 280,
});
const content = (maxLength: number) => fc.uint8Array({ maxLength, size: 'max' });

/** Arbitrary bytes of one length, the same in every run. */
function sample(length: number, salt = 0): Uint8Array {
  let state = (length + 1) * 2_654_435_761 + salt + SEED;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

/** What HMAC-SHA256 is, without either implementation. */
const expected = (key: Uint8Array, head: string, body: Uint8Array) =>
  createHmac('sha256', key).update(Buffer.from(head)).update(body).digest('base64');

describe('the one-shot HMAC', () => {
  it('equals createHmac for every body of 0 to 1,000 bytes', () => {
    const key = prepareKey(sample(24));
    for (const length of numbers(0, 1_000)) {
      const body = sample(length);
      const digest = hmacBase64(key, `id-${length}.1.`, body);
      expect(digest).toBe(expected(sample(24), `id-${length}.1.`, body));
    }
  });

  it('equals createHmac for every key of 1 to 200 bytes', () => {
    const body = sample(500);
    for (const length of numbers(1, 200)) {
      const key = sample(length);
      expect(hmacBase64(prepareKey(key), 'a.1.', body)).toBe(expected(key, 'a.1.', body));
    }
  });

  it('equals createHmac for arbitrary bytes, small and above its scratch memory', () => {
    const keys = fc.uint8Array({ minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(keys, ascii, content(20_000), (key, head, body) => {
        expect(hmacBase64(prepareKey(key), head, body)).toBe(expected(key, head, body));
      }),
      { seed: SEED, numRuns: runs() },
    );
    for (const length of numbers(8_180, 8_200)) {
      const [key, body] = [sample(32), sample(length)];
      expect(hmacBase64(prepareKey(key), 'a.1.', body)).toBe(expected(key, 'a.1.', body));
    }
  });

  it('keeps keys and messages apart when calls are interleaved', () => {
    const call = fc.record({
      key: fc.nat(3),
      head: ascii,
      body: fc.uint8Array({ maxLength: 300 }),
    });
    const keys = [1, 2, 3, 4].map((salt) => sample(20 * salt, salt));
    const prepared = keys.map((key) => prepareKey(key));
    fc.assert(
      fc.property(fc.array(call, { maxLength: 20 }), (calls) => {
        const digests = calls.map(({ key, head, body }) => hmacBase64(prepared[key]!, head, body));
        // Read only after all calls: a text that lived in scratch memory would have changed.
        expect(digests).toEqual(
          calls.map(({ key, head, body }) => expected(keys[key]!, head, body)),
        );
      }),
      { seed: SEED },
    );
  });

  it('changes neither the key nor the body that it is given', async () => {
    const [bytes, body] = [sample(40), sample(900)];
    await hmacBase64(prepareKey(bytes), 'a.1.', body);
    expect([bytes, body]).toEqual([sample(40), sample(900)]);
  });
});

describe('the choice of implementation', () => {
  const mocked = { ...crypto, hash: jest.fn(crypto.hash), createHmac: jest.fn(createHmac) };
  const load = (hash: unknown) => {
    jest.resetModules();
    jest.unstable_mockModule('node:crypto', () => ({ default: mocked }));
    Object.assign(mocked, { hash });
    return import('../../src/hmac/node-crypto.ts');
  };

  it('uses crypto.hash for messages of up to 8 KB, and createHmac for larger ones', async () => {
    const { hash } = mocked;
    const node = await load(hash);
    const key = node.prepareKey(sample(24));
    await node.hmacBase64(key, 'a.1.', sample(8_000));
    expect([hash.mock.calls.length, mocked.createHmac.mock.calls.length]).toEqual([2, 0]);
    await node.hmacBase64(key, 'a.1.', sample(9_000));
    expect([hash.mock.calls.length, mocked.createHmac.mock.calls.length]).toEqual([2, 1]);
  });

  it('uses createHmac where crypto.hash is missing', async () => {
    mocked.createHmac.mockClear();
    const node = await load(undefined);
    const [key, body] = [sample(24), sample(1_000)];
    expect(node.hmacBase64(node.prepareKey(key), 'a.1.', body)).toBe(expected(key, 'a.1.', body));
    expect(mocked.createHmac).toHaveBeenCalledTimes(1);
  });
});

describe('equalText', () => {
  it('compares signatures, and texts of other lengths', () => {
    const texts = fc.oneof(
      ascii,
      fc.string({ unit: 'binary-ascii', minLength: 44, maxLength: 44 }),
    );
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(equalText(a, b)).toBe(a === b);
        expect(equalText(a, a)).toBe(true);
      }),
      { seed: SEED },
    );
  });

  it('notices a change of any single character', () => {
    const signature = 'A'.repeat(43) + '=';
    for (const at of numbers(0, 43)) {
      const changed = `${signature.slice(0, at)}b${signature.slice(at + 1)}`;
      expect(equalText(signature, changed)).toBe(false);
    }
  });
});
