import { describe, expect, it } from '@jest/globals';
import { generateSecret, sign } from '@call-webhooks/core';
import { Webhook } from 'standardwebhooks';
import { callBody } from '@call-webhooks/store-tests/internal';
import type { AdapterTestContext } from './under-test.ts';

/** The bytes and the signature headers get in as they were sent. */
export function verification({ start, host }: AdapterTestContext): void {
  describe('verification', () => {
    it('accepts what the independent standardwebhooks package signs', async () => {
      const { sender, secret } = await start({ on: { 'call:completed': () => undefined } });
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

    it('verifies arbitrary bytes: what comes after is a matter of their meaning, not of their signature', async () => {
      const { sender } = await start();
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const expected = host.decodesBody ? 'signature-mismatch' : 'invalid-payload';
      for (const body of [bytes, Uint8Array.of(0x22, 0xff, 0x22)])
        expect((await sender.post(body)).outcome).toBe(expected);
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

    it('refuses forged, unsigned and malformed requests: 401, and runs nothing', async () => {
      let runs = 0;
      const { sender, secret } = await start({ on: { 'call:completed': () => (runs += 1) } });
      const body = callBody('c1');
      const signed = await sign({ secret, body });
      const mismatch = { status: 401, outcome: 'signature-mismatch' };
      expect(await sender.post(body, { secret: generateSecret() })).toEqual(mismatch);
      expect(await sender.raw(`${body} `, { headers: signed })).toEqual(mismatch);
      expect(await sender.raw(body)).toEqual({ status: 401, outcome: 'missing-header' });
      for (const [name, value] of Object.entries(signed)) {
        const headers = { ...signed, [name]: [value, value] };
        const reply = await sender.raw(body, { headers });
        expect({ name, ...reply }).toEqual({ name, status: 401, outcome: 'malformed-header' });
      }
      expect(runs).toBe(0);
    });
  });
}
