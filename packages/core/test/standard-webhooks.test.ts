import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Webhook, Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import {
  createReceiver,
  type DeadLetter,
  memoryStore,
  type QueuedDelivery,
  type ReceiverOptions,
  sign,
  verify,
} from '../src/index.ts';
import { createJobProcessor } from '../src/stores.ts';
import { bytes, Lines, OTHER_SECRET, SECRET, SEED } from './support.ts';

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

const profile = 'standard-webhooks' as const;
const BODY = JSON.stringify({ type: 'call.ended', data: { id: 'c1' } });

/** One attempt of a sender: the packages sign with the time that they are given. */
function attempt(
  signer: { sign(id: string, time: Date, body: string): string },
  { id = 'msg_1', body = BODY, seconds = Math.floor(Date.now() / 1000), signatures = [''] } = {},
) {
  const signature = signer.sign(id, new Date(seconds * 1000), body);
  return {
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': [...signatures, signature].filter(Boolean).join(' '),
    },
    body: bytes(body),
  };
}

function createTestReceiver(options: Partial<ReceiverOptions> = {}) {
  const handle = jest.fn<(payload: unknown, context: { key?: string | undefined }) => unknown>();
  const custom = { handle };
  const receiver = createReceiver({
    secret: SECRET,
    profile,
    custom,
    logger: new Lines(),
    ...options,
  });
  const send = async (request: ReturnType<typeof attempt>) =>
    (await receiver.receive(request)).outcome.outcome;
  return { handle, send };
}

describe.each([
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
])('the profile standard-webhooks with the sender %s', (_name, Webhook) => {
  const sender = new Webhook(SECRET);
  const other = new Webhook(OTHER_SECRET);

  it('accepts one signature', async () => {
    const { handle, send } = createTestReceiver();
    expect(await send(attempt(sender))).toBe('handled');
    expect(handle.mock.calls[0]?.[0]).toEqual(JSON.parse(BODY));
    expect(handle.mock.calls[0]?.[1]?.key).toBe('webhook-id:msg_1');
  });

  it('accepts any of several signatures, and skips those of other versions', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    const foreign = other.sign('msg_1', new Date(seconds * 1000), BODY);
    const { send } = createTestReceiver();
    expect(await send(attempt(sender, { seconds, signatures: [foreign, 'v1a,ed25519=='] }))).toBe(
      'handled',
    );
    const request = attempt(other, { seconds, signatures: ['v2,x'] });
    expect(await send(request)).toBe('signature-mismatch');
  });

  it('runs the retry of a failed delivery that keeps its webhook id', async () => {
    const { handle, send } = createTestReceiver();
    handle.mockImplementationOnce(() => {
      throw new Error('not yet');
    });
    const now = Math.floor(Date.now() / 1000);
    expect(await send(attempt(sender, { seconds: now - 5 }))).toBe('handler-failed');
    expect(await send(attempt(sender, { seconds: now }))).toBe('handled');
    expect(await send(attempt(sender, { seconds: now }))).toBe('replayed');
    expect(await send(attempt(sender, { seconds: now + 1 }))).toBe('duplicate');
    expect(handle).toHaveBeenCalledTimes(2);
  });

  it('refuses the replay of a captured request, whether its handler failed or not', async () => {
    const deadLetter = jest.fn();
    const { handle, send } = createTestReceiver({ deadLetter, maxAttempts: 1 });
    handle.mockImplementationOnce(() => {
      throw new Error('broken');
    });
    const seconds = Math.floor(Date.now() / 1000);
    for (const [id, first] of [
      ['msg_1', 'dead-lettered'],
      ['msg_2', 'handled'],
    ] as const) {
      const request = attempt(sender, { id, seconds });
      expect(await send(request)).toBe(first);
      for (let times = 0; times < 3; times++) expect(await send(request)).toBe('replayed');
    }
    const invalid = attempt(sender, { id: 'msg_3', body: 'no json', seconds });
    expect(await send(invalid)).toBe('dead-lettered');
    expect(await send(invalid)).toBe('replayed');
    expect(handle).toHaveBeenCalledTimes(2);
    expect(deadLetter).toHaveBeenCalledTimes(2);
  });

  it('refuses a replay although the event is forgotten', async () => {
    let time = Date.now();
    const now = () => time;
    const store = memoryStore({ now, rememberFor: 600_000 });
    const { handle, send } = createTestReceiver({ now, store, toleranceSeconds: 3_600 });
    const request = attempt(sender, { seconds: Math.floor(time / 1000) });
    expect(await send(request)).toBe('handled');
    time += 601_000;
    expect(await send(request)).toBe('replayed');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('gives the handler and the dead letter of a worker the same key', async () => {
    const jobs: QueuedDelivery[] = [];
    const queue = { enqueue: (job: QueuedDelivery) => Promise.resolve(void jobs.push(job)) };
    expect(await createTestReceiver({ queue }).send(attempt(sender))).toBe('queued');
    const handle = jest.fn((_payload: unknown, { key }: { key?: string | undefined }) => {
      throw new Error(key);
    });
    const deadLetter = jest.fn<(letter: DeadLetter) => void>();
    const logger = new Lines();
    const process = createJobProcessor({ custom: { handle }, deadLetter, logger, maxRuns: 1 });
    expect(await process(jobs[0]!)).toMatchObject({ status: 'dead' });
    expect(handle.mock.calls[0]?.[1].key).toBe('webhook-id:msg_1');
    expect(deadLetter.mock.calls[0]?.[0].key).toBe('webhook-id:msg_1');
  });

  it('prefers the key of an event to the webhook id', async () => {
    const handle = jest.fn();
    const { send } = createTestReceiver({ on: { 'call:started': handle } });
    const body = JSON.stringify({ eventName: 'call:started', callId: 'c1' });
    expect(await send(attempt(sender, { id: 'msg_1', body }))).toBe('handled');
    expect(await send(attempt(sender, { id: 'msg_2', body }))).toBe('duplicate');
  });

  it('still refuses forged, old and unsigned requests', async () => {
    const { handle, send } = createTestReceiver();
    expect(await send(attempt(other))).toBe('signature-mismatch');
    const seconds = Math.floor(Date.now() / 1000) - 400;
    expect(await send(attempt(sender, { seconds }))).toBe('timestamp-out-of-tolerance');
    const { headers, body } = attempt(sender);
    const unsigned = { ...headers, 'webhook-signature': 'v1a,only' };
    expect(await send({ headers: unsigned, body })).toBe('malformed-header');
    expect(handle).not.toHaveBeenCalled();
  });

  it('is refused without the profile', async () => {
    const headerPrefix = {
      id: 'webhook-id',
      timestamp: 'webhook-timestamp',
      signature: 'webhook-signature',
    };
    const { send } = createTestReceiver({ profile: undefined, headerPrefix });
    const request = attempt(sender, { signatures: ['v1,x'] });
    expect(await send(request)).toBe('malformed-header');
    expect(await send(attempt(sender))).toBe('handled');
    expect(await send(attempt(sender, { seconds: Math.floor(Date.now() / 1000) + 1 }))).toBe(
      'replayed',
    );
  });

  it('is supported by sign and verify', async () => {
    const headers = await sign({ secret: SECRET, body: BODY, profile, webhookId: 'msg_9' });
    expect(Object.keys(headers)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
    sender.verify(BODY, headers);
    expect(() => other.verify(BODY, headers)).toThrow('No matching signature');
    const verified = await verify(attempt(sender), { secret: SECRET, profile });
    expect(verified.webhookId).toBe('msg_1');
  });
});
