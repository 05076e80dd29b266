import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { createReceiver, sign, verify } from '../src/index.ts';
import { bytes, Lines, OTHER_SECRET, SECRET, SECRET_ID, SEED } from './support.ts';

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
          secretId: SECRET_ID,
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

const headerPrefix = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
};

describe.each([
  ['standardwebhooks', Webhook],
  ['svix', SvixWebhook],
])('the header names of the sender %s', (_name, Sender) => {
  const sender = new Sender(SECRET);
  const body = JSON.stringify({ eventName: 'call:started', callId: 'c1' });

  it('are accepted by a receiver that is given them, with one signature', async () => {
    const handle = jest.fn();
    const on = { 'call:started': handle };
    const logger = new Lines();
    const receiver = createReceiver({ secret: SECRET, headerPrefix, on, logger });
    const send = async (id: string, more = '') => {
      const seconds = Math.floor(Date.now() / 1000);
      const signature = more + sender.sign(id, new Date(seconds * 1000), body);
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signature,
      };
      return (await receiver.receive({ headers, body: bytes(body) })).outcome.outcome;
    };
    expect(await send('msg_0', 'v1a,other ')).toBe('malformed-header');
    expect(await send('msg_1')).toBe('handled');
    expect(await send('msg_1')).toBe('replayed');
    expect(await send('msg_2')).toBe('duplicate');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('are those that sign writes, and that their own library verifies', async () => {
    const headers = await sign({ secret: SECRET, body, headerPrefix, webhookId: 'msg_9' });
    expect(Object.keys(headers)).toEqual(Object.values(headerPrefix));
    sender.verify(body, headers);
    expect(() => new Sender(OTHER_SECRET).verify(body, headers)).toThrow('No matching signature');
    const verified = await verify({ headers, body: bytes(body) }, { secret: SECRET, headerPrefix });
    expect(verified.webhookId).toBe('msg_9');
  });
});
