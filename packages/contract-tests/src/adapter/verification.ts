import { describe, expect, it } from '@jest/globals';
import { generateSecret, sign } from '@call-webhooks/core';
import { Webhook } from 'standardwebhooks';
import { callBody } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

const on = { 'call:completed': () => undefined };

/** Only the service gets through, and each of its deliveries once. */
export function verification({ start, host }: AdapterTestContext): void {
  describe('verification', () => {
    it('accepts what the independent standardwebhooks package signs', async () => {
      const { sender, secret } = await start({ on });
      for (const body of [callBody('ascii'), callBody('ünïcödé-☎')]) {
        const [webhookId, date] = [crypto.randomUUID(), new Date()];
        const signature = new Webhook(secret).sign(webhookId, date, body);
        const timestamp = String(Math.floor(date.getTime() / 1000));
        const headers = {
          'X-Service-Webhook-Id': webhookId,
          'X-Service-Timestamp': timestamp,
          'X-Service-Signature': signature,
        };
        expect((await sender.raw(body, { headers })).outcome).toBe('handled');
      }
    });

    it('never takes a request for one that is trusted', async () => {
      const sources: unknown[] = [];
      const { sender, outcomes } = await start({
        on: { 'call:completed': (_event, { source }) => void sources.push(source) },
      });
      const claims = { source: 'redrive', rawBody: 'e30=', attempt: 9 };
      const headers = { source: 'redrive', 'x-source': 'redrive', 'x-service-source': 'reconcile' };
      const body = callBody('c1', 'call:completed', claims);
      expect((await sender.raw(body, { headers })).status).toBe(401);
      expect((await sender.post(body, { headers })).outcome).toBe('handled');
      expect((await sender.post(body, { headers })).outcome).toBe('duplicate');
      expect(sources).toEqual(['webhook']);
      expect(outcomes.map(({ source }) => source)).toEqual(['webhook', 'webhook', 'webhook']);
    });

    it('verifies arbitrary bytes: what comes after is a matter of their meaning, not of their signature', async () => {
      const { sender } = await start({ on });
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      expect((await sender.post(bytes)).outcome).toBe(
        host.decodesBody ? 'signature-mismatch' : 'invalid-payload',
      );
    });

    it('takes ±300 s and refuses ±301 s', async () => {
      const clock = 1_800_000_000;
      const { sender } = await start({ on, now: () => clock * 1000 });
      for (const offset of [-300, 300]) {
        expect(
          (await sender.post(callBody(`c${String(offset)}`), { timestamp: clock + offset }))
            .outcome,
        ).toBe('handled');
      }
      for (const offset of [-301, 301]) {
        const reply = await sender.post(callBody('c1'), { timestamp: clock + offset });
        expect(reply).toEqual({ status: 401, outcome: 'timestamp-out-of-tolerance' });
      }
    });

    it('refuses a message stamped 299 s ahead that is replayed 598 s later', async () => {
      let clock = 1_800_000_000;
      const { sender } = await start({ on, now: () => clock * 1000 });
      const delivery = { webhookId: crypto.randomUUID(), timestamp: clock + 299 };
      expect((await sender.post(callBody('c1'), delivery)).outcome).toBe('handled');
      clock += 598;
      expect(await sender.post(callBody('c1'), delivery)).toEqual({
        status: 409,
        outcome: 'replayed',
      });
    });

    it('accepts the same webhook id posted 50 times at once just once', async () => {
      const { sender } = await start({ on });
      const webhookId = crypto.randomUUID();
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => sender.post(callBody('c1'), { webhookId })),
      );
      expect(replies.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
      expect(
        replies.filter(({ outcome, status }) => outcome === 'replayed' && status === 409),
      ).toHaveLength(49);
    });

    it('refuses forged, unsigned and malformed requests: 401, and runs nothing', async () => {
      let runs = 0;
      const { sender, secret } = await start({ on: { 'call:completed': () => (runs += 1) } });
      const body = callBody('c1');
      expect((await sender.post(body, { secret: generateSecret() })).outcome).toBe(
        'signature-mismatch',
      );
      expect((await sender.raw(body)).outcome).toBe('missing-header');
      const signed = await sign({ secret, body });
      expect((await sender.raw(`${body} `, { headers: signed })).outcome).toBe(
        'signature-mismatch',
      );
      for (const [name, value] of MALFORMED) {
        const reply = await sender.raw(body, { headers: { ...signed, [name]: value } });
        expect({ name, value, ...reply }).toEqual({
          name,
          value,
          status: 401,
          outcome: 'malformed-header',
        });
      }
      expect(runs).toBe(0);
    });

    it('a rotated secret works without a restart, with two secrets and with a provider', async () => {
      const [before, after] = [generateSecret(), generateSecret()];
      const two = await start({
        on,
        secret: [
          { id: 'old', secret: before },
          { id: 'new', secret: after },
        ],
      });
      for (const [secret, id] of [
        [before, 'old'],
        [after, 'new'],
      ] as const) {
        expect((await two.sender.post(callBody(id), { secret })).outcome).toBe('handled');
        expect(two.outcomes.at(-1)?.secretId).toBe(id);
      }
      let live = before;
      const provided = await start({ on, secret: () => Promise.resolve(live) });
      expect((await provided.sender.post(callBody('c1'), { secret: before })).outcome).toBe(
        'handled',
      );
      live = after;
      expect((await provided.sender.post(callBody('c2'), { secret: after })).outcome).toBe(
        'handled',
      );
      expect((await provided.sender.post(callBody('c3'), { secret: before })).status).toBe(401);
    });
  });
}

const MALFORMED: [string, string | string[]][] = [
  ...[
    '1e9',
    '0x10',
    '170.5',
    '-1700000000',
    '01700000000',
    '1700000000abc',
    'NaN',
    '9'.repeat(13),
  ].map((value): [string, string] => ['X-Service-Timestamp', value]),
  ['X-Service-Timestamp', ['1700000000', '1700000000']],
  ['X-Service-Webhook-Id', ['a', 'b']],
  ['X-Service-Webhook-Id', 'a.b'],
  ['X-Service-Webhook-Id', 'x'.repeat(257)],
  ['X-Service-Signature', 'v2,AAAA'],
  ['X-Service-Signature', 'v1,AAAA'],
  ['X-Service-Signature', ['v1,AAAA', 'v1,BBBB']],
];
