import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as nodeCrypto from '../../src/platform/node.ts';
import type { Platform } from '../../src/platform/platform.ts';
import * as webCrypto from '../../src/platform/web.ts';
import { bytes, SEED } from '../support.ts';

const implementations: [string, Platform][] = [
  ['node:crypto', nodeCrypto],
  ['WebCrypto', webCrypto],
];
const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const fromHex = (text: string) => Buffer.from(text, 'hex').toString('base64');

describe.each(implementations)('HMAC by %s', (name, hmac) => {
  // Test vectors of RFC 4231, with the data split in two at different places.
  it.each<[string, Uint8Array, string, Uint8Array, string]>([
    [
      'case 1',
      hex('0b'.repeat(20)),
      'Hi',
      bytes(' There'),
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      'case 2',
      bytes('Jefe'),
      '',
      bytes('what do ya want for nothing?'),
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      'case 3',
      hex('aa'.repeat(20)),
      '',
      hex('dd'.repeat(50)),
      '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
    ],
    [
      'case 6',
      hex('aa'.repeat(131)),
      'Test Using Larger Than Block-Size Key',
      bytes(' - Hash Key First'),
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ])('makes the digest of RFC 4231, %s', async (_case, key, head, body, digest) => {
    expect(await hmac.hmacBase64(hmac.prepareKey(key), head, body)).toBe(fromHex(digest));
  });

  it('names itself, and signs an empty body', async () => {
    const key = hmac.prepareKey(bytes('0123456789abcdef'));
    expect(key.implementation).toBe(name);
    const expected = createHmac('sha256', '0123456789abcdef').update('a.1.').digest('base64');
    expect(await hmac.hmacBase64(key, 'a.1.', new Uint8Array())).toBe(expected);
  });

  it.each([
    ['', '', true],
    ['abc', 'abc', true],
    ['abc', 'abd', false],
    ['abc', 'ABC', false],
    ['abc', 'abcd', false],
    ['abcd', 'abc', false],
    ['', 'a', false],
  ])('compares %j with %j: %p', (a, b, same) => {
    expect(hmac.equalText(a, b)).toBe(same);
  });
});

describe('both implementations', () => {
  const ascii = fc.string({
    unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
  });

  it('agree with each other and with one createHmac over the joined bytes', async () => {
    const key = fc.uint8Array({ minLength: 16, maxLength: 100 });
    const body = fc.uint8Array({ maxLength: 3_000 });
    await fc.assert(
      fc.asyncProperty(key, ascii, body, async (secret, head, content) => {
        const expected = createHmac('sha256', secret)
          .update(Buffer.concat([Buffer.from(head), content]))
          .digest('base64');
        for (const [, hmac] of implementations)
          expect(await hmac.hmacBase64(hmac.prepareKey(secret), head, content)).toBe(expected);
      }),
      { seed: SEED },
    );
  });

  it('agree on which texts are equal', () => {
    fc.assert(
      fc.property(ascii, ascii, fc.boolean(), (a, other, same) => {
        const b = same ? a : other;
        for (const [, hmac] of implementations) expect(hmac.equalText(a, b)).toBe(a === b);
      }),
      { seed: SEED },
    );
  });

  it('accept a key that is a view of a buffer, and copy it', async () => {
    for (const [, hmac] of implementations) {
      const pool = new Uint8Array(64).fill(1);
      const view = pool.subarray(8, 32);
      const expected = createHmac('sha256', Buffer.from(view)).update('x').digest('base64');
      const key = hmac.prepareKey(view);
      pool.fill(2);
      expect(await hmac.hmacBase64(key, 'x', new Uint8Array())).toBe(expected);
    }
  });
});

it('WebCrypto can use the key of a secret, but never hand it out', async () => {
  const { key } = webCrypto.prepareKey(bytes('0123456789abcdef')) as unknown as {
    key: Promise<{ extractable: boolean }>;
  };
  expect((await key).extractable).toBe(false);
});
