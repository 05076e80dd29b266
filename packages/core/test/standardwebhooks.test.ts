import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { sign, verify } from '../src/index.ts';
import { bytes, OTHER_SECRET, SECRET, SEED } from './support.ts';

describe('the independent standardwebhooks package', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary-ascii' }),
    fc.string({ unit: 'grapheme' }),
    fc.json(),
  );
  // It reads the real clock, so these signatures are made for now.
  const realSeconds = () => Math.floor(Date.now() / 1000);

  it('makes signatures that verify accepts', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.uuid(), async (body, id) => {
        const timestamp = realSeconds();
        const signature = new Webhook(SECRET).sign(id, new Date(timestamp * 1000), body);
        const headers = {
          'X-Service-Webhook-Id': id,
          'X-Service-Timestamp': String(timestamp),
          'X-Service-Signature': signature,
        };
        const verified = await verify({ headers, body: bytes(body) }, { secret: SECRET });
        expect(verified).toEqual({
          webhookId: id,
          timestamp: new Date(timestamp * 1000),
          secretId: 'secret-1',
        });
      }),
      { seed: SEED },
    );
  });

  it('accepts signatures made by sign', async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.uint8Array({ minLength: 16, maxLength: 64 }),
        async (body, raw) => {
          const secret = `whsec_${Buffer.from(raw).toString('base64')}`;
          const headers = await sign({ secret, body });
          const renamed = {
            'webhook-id': headers['X-Service-Webhook-Id']!,
            'webhook-timestamp': headers['X-Service-Timestamp']!,
            'webhook-signature': headers['X-Service-Signature']!,
          };
          expect(() =>
            new Webhook(secret).verify(body, renamed, { jsonParse: false }),
          ).not.toThrow();
          expect(() =>
            new Webhook(OTHER_SECRET).verify(body, renamed, { jsonParse: false }),
          ).toThrow();
        },
      ),
      { seed: SEED },
    );
  });
});
