import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { generateSecret, sign, verify } from '../../src/index.ts';
import * as nodeCrypto from '../../src/platform/node.ts';
import type { Platform } from '../../src/platform/platform.ts';
import * as webCrypto from '../../src/platform/web.ts';
import { bytes, delivery, NOW, OTHER_SECRET, SECONDS, SECRET, SEED } from '../support.ts';

const now = () => NOW;
const code = async (run: Promise<unknown>) => {
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as { code?: string } | undefined)?.code;
};

describe('sign and verify', () => {
  it('make the signature of the published example of Standard Webhooks', async () => {
    const body = '{"test": 2432232314}';
    const headers = await sign({
      secret: SECRET,
      body,
      webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
    });
    expect(headers).toEqual({
      'X-Service-Webhook-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'X-Service-Timestamp': '1614265330',
      'X-Service-Signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('agree on arbitrary bytes, and one changed byte is a mismatch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 500 }),
        fc.nat(),
        async (body, at) => {
          const request = await delivery(body);
          await verify(request, { secret: SECRET, now });
          const changed = Uint8Array.from(body);
          changed[at % body.length]! ^= 1;
          expect(await code(verify({ ...request, body: changed }, { secret: SECRET, now }))).toBe(
            'signature-mismatch',
          );
        },
      ),
      { seed: SEED },
    );
  });

  it('do not confuse the replacement character with the byte that it replaces', async () => {
    const request = await delivery(bytes('"\uFFFD"'));
    const forged = Uint8Array.from([0x22, 0xff, 0x22]);
    expect(await code(verify({ ...request, body: forged }, { secret: SECRET, now }))).toBe(
      'signature-mismatch',
    );
  });

  it('cover the id and the timestamp, and both with the same secret', async () => {
    const request = await delivery({ a: 1 }, { webhookId: 'one' });
    for (const change of [
      { 'x-service-webhook-id': 'two' },
      { 'x-service-timestamp': String(SECONDS + 1) },
    ])
      expect(
        await code(
          verify(
            { ...request, headers: { ...request.headers, ...change } },
            { secret: SECRET, now },
          ),
        ),
      ).toBe('signature-mismatch');
    expect(await code(verify(request, { secret: OTHER_SECRET, now }))).toBe('signature-mismatch');
  });

  it('refuse every non-canonical spelling of the right signature', async () => {
    const request = await delivery({ a: 1 });
    const signature = request.headers['x-service-signature']!;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const last = alphabet.indexOf(signature.at(-2)!);
    const same = [1, 2, 3].map((bits) => `${signature.slice(0, -2)}${alphabet[last + bits]!}=`);
    for (const spelling of same) {
      expect(Buffer.from(spelling.slice(3), 'base64')).toEqual(
        Buffer.from(signature.slice(3), 'base64'),
      );
      const headers = { ...request.headers, 'x-service-signature': spelling };
      expect(await code(verify({ ...request, headers }, { secret: SECRET, now }))).toBe(
        'signature-mismatch',
      );
    }
    for (const spelling of [
      signature.slice(0, -1),
      `${signature}=`,
      `${signature.slice(0, 10)} ${signature.slice(10)}`,
    ]) {
      const headers = { ...request.headers, 'x-service-signature': spelling };
      expect(await code(verify({ ...request, headers }, { secret: SECRET, now }))).toBe(
        'malformed-header',
      );
    }
  });

  it.each([
    [-301, 'timestamp-out-of-tolerance'],
    [-300, undefined],
    [300, undefined],
    [301, 'timestamp-out-of-tolerance'],
  ])('with a signature %p s off: %p', async (difference, expected) => {
    const request = await delivery({}, { timestamp: SECONDS + difference });
    expect(await code(verify(request, { secret: SECRET, now }))).toBe(expected);
  });

  it('accept any of several secrets, and name the one that matched', async () => {
    const secret = [
      { id: 'old', secret: OTHER_SECRET },
      { id: 'new', secret: SECRET },
    ];
    expect((await verify(await delivery({}), { secret, now })).secretId).toBe('new');
    expect(
      (await verify(await delivery({}, { secret: OTHER_SECRET }), { secret, now })).secretId,
    ).toBe('old');
    const forged = verify(await delivery({}, { secret: generateSecret() }), { secret, now });
    await expect(forged).rejects.toMatchObject({
      code: 'signature-mismatch',
      message: expect.stringContaining('None of the 2 configured secrets (old, new) matches'),
    });
    // Without a receiver, nothing is known of earlier deliveries.
    await expect(forged).rejects.toMatchObject({
      message: expect.not.stringMatching(/undefined|Last verified|since the start/),
    });
  });

  it('respect the header prefix and the tolerance', async () => {
    const request = await delivery({}, { headerPrefix: 'Acme', timestamp: SECONDS - 20 });
    await verify(request, { secret: SECRET, now, headerPrefix: 'acme' });
    expect(await code(verify(request, { secret: SECRET, now }))).toBe('missing-header');
    expect(
      await code(
        verify(request, { secret: SECRET, now, headerPrefix: 'Acme', toleranceSeconds: 19 }),
      ),
    ).toBe('timestamp-out-of-tolerance');
  });

  it('refuse a body that is not bytes, and bad arguments', async () => {
    const request = await delivery({});
    const parsed = { ...request, body: {} as Uint8Array };
    expect(await code(verify(parsed, { secret: SECRET, now }))).toBe('body-already-parsed');
    expect(await code(verify(request, { secret: '', now }))).toBe('invalid-secret');
    expect(await code(sign({ secret: 'x', body: '' }))).toBe('invalid-secret');
    for (const timestamp of [1.5, -1, NaN, new Date(NaN)])
      expect(await code(sign({ secret: SECRET, body: '', timestamp }))).toBe('invalid-options');
  });

  it('sign with a new id each time, and accept a Date', async () => {
    const one = await sign({ secret: SECRET, body: '', timestamp: new Date(NOW + 999) });
    const two = await sign({ secret: SECRET, body: '' });
    expect(one['X-Service-Timestamp']).toBe(String(SECONDS));
    expect(one['X-Service-Webhook-Id']).not.toBe(two['X-Service-Webhook-Id']);
  });

  it('refuses to sign what no receiver would accept', async () => {
    const secret = generateSecret();
    for (const [message, ...wrong] of [
      ['webhookId: expected', { webhookId: '' }, { webhookId: 'a.b' }, { webhookId: 'ü' }],
      ['timestamp: expected', { timestamp: 0 }, { timestamp: 1.5 }, { timestamp: 1e12 }],
    ] as const)
      for (const option of wrong)
        await expect(sign({ secret, body: '{}', ...option })).rejects.toMatchObject({
          code: 'invalid-options',
          message: expect.stringContaining(message),
        });
  });

  it('say that it is the clock, if mocked timers begin at 0', async () => {
    jest.useFakeTimers({ now: 0 });
    try {
      await expect(sign({ secret: SECRET, body: '{}' })).rejects.toThrow(
        'The clock of this process is at 0 seconds since 1970, which a receiver rejects.',
      );
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('HMAC', () => {
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

    it.each([16, 63, 64, 65, 100])('agree on a key of %i bytes', async (length) => {
      const secret = Uint8Array.from({ length }, (_none, index) => index);
      const body = new Uint8Array(20_000).fill(7).subarray(5);
      const expected = createHmac('sha256', secret).update('a.1.').update(body).digest('base64');
      for (const [, hmac] of implementations)
        expect(await hmac.hmacBase64(hmac.prepareKey(secret), 'a.1.', body)).toBe(expected);
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

  it.each(implementations)('a key of %s shows nothing of the secret', (_name, hmac) => {
    const secret = bytes('0123456789abcdef');
    const key = hmac.prepareKey(secret);
    const shown = `${inspect(key, { showHidden: true, depth: 9 })} ${JSON.stringify(key)}`;
    for (const part of ['0123456789', '48, 49', '30 31 32', 'MDEyMzQ1'])
      expect(shown).not.toContain(part);
  });

  it('WebCrypto can use the key of a secret, but never hand it out', async () => {
    const { key } = webCrypto.prepareKey(bytes('0123456789abcdef')) as unknown as {
      key: Promise<{ extractable: boolean }>;
    };
    expect((await key).extractable).toBe(false);
  });
});
