import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { generateSecret, sign } from '@call-webhooks/core';
import {
  callBody,
  exchange,
  requestBytes,
  signedDelivery,
  startSender,
  type Sender,
} from '@call-webhooks/contract-tests';
import { Webhook } from 'standardwebhooks';
import type { RunningApp } from './built-app.ts';

/** Next's own responses in the App Router, where the route exports only POST. */
const OF_NEXT: Record<string, number> = { OPTIONS: 204, TRACE: 500 };
const APP_ROUTER_METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'];

/** The adapter contract tests that can be run against another process. */
export function contract(
  app: () => RunningApp,
  secret: string,
  router: string,
  path: string,
): void {
  const sender = (): Sender => startSender(app().url + path, secret);
  const handled = { status: 200, outcome: 'handled' };

  describe(`the ${router} router passes the contract tests`, () => {
    it('agrees with standardwebhooks in both directions', async () => {
      for (const name of ['ascii', 'Zoë ☎']) {
        const body = callBody(randomUUID(), 'call:completed', { name });
        const [id, date] = [randomUUID(), new Date()];
        const headers = {
          'X-Service-Webhook-Id': id,
          'X-Service-Timestamp': String(Math.floor(date.getTime() / 1000)),
          'X-Service-Signature': new Webhook(secret).sign(id, date, body),
        };
        expect(await sender().raw(body, { headers })).toEqual(handled);
        const ours = await sign({ secret, body });
        const renamed = {
          'webhook-id': ours['X-Service-Webhook-Id']!,
          'webhook-timestamp': ours['X-Service-Timestamp']!,
          'webhook-signature': ours['X-Service-Signature']!,
        };
        expect(new Webhook(secret).verify(body, renamed)).toEqual(JSON.parse(body));
      }
    });

    it('accepts timestamps within five minutes either way, and no others', async () => {
      // The app uses the real clock, so one second is left on each side.
      for (const [off, status] of [
        [-298, 200],
        [299, 200],
        [-301, 401],
        [303, 401],
      ] as const) {
        const timestamp = Math.floor(Date.now() / 1000) + off;
        const reply = await sender().post(callBody(randomUUID()), { timestamp });
        expect({ off, status: reply.status }).toEqual({ off, status });
      }
    });

    it('accepts one of 50 posts with the same id, and runs one of 50 deliveries of an event', async () => {
      const [webhookId, one, two] = [randomUUID(), randomUUID(), randomUUID()];
      const fifty = (post: () => ReturnType<Sender['post']>) =>
        Promise.all(Array.from({ length: 50 }, post));
      const same = await fifty(() => sender().post(callBody(one), { webhookId }));
      expect(same.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
      expect(same.filter(({ outcome }) => outcome === 'replayed')).toHaveLength(49);
      const others = await fifty(() => sender().post(callBody(two)));
      expect(others.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
      await app().printed(new RegExp(`call ${two} completed`));
      expect(app().output().split(`call ${two} completed`)).toHaveLength(2);
    });

    it('responds from the outcome table', async () => {
      const body = callBody(randomUUID());
      const signed = await sign({ secret, body });
      const answers: [string, Awaited<ReturnType<Sender['raw']>>][] = [
        ['missing-header', await sender().raw(body)],
        ['signature-mismatch', await sender().post(body, { secret: generateSecret() })],
        ['signature-mismatch', await sender().raw(`${body} `, { headers: signed })],
        [
          'malformed-header',
          await sender().raw(body, { headers: { ...signed, 'X-Service-Timestamp': '1e9' } }),
        ],
        [
          'malformed-header',
          await sender().raw(body, { headers: { ...signed, 'X-Service-Webhook-Id': ['a', 'b'] } }),
        ],
        ['invalid-payload', await sender().post('{')],
        ['invalid-payload', await sender().post(Uint8Array.of(0x22, 0xff, 0x22))],
        [
          'unsupported-encoding',
          await sender().post(body, { headers: { 'content-encoding': 'gzip' } }),
        ],
        ['body-too-large', await sender().post('x'.repeat(1024 * 1024 + 1))],
        ['ignored', await sender().post(callBody(randomUUID(), 'call:unheard-of'))],
        ['ignored', await sender().post('{"no":"name"}')],
      ];
      expect(answers.map(([, { outcome }]) => outcome)).toEqual(answers.map(([code]) => code));
    });

    // `next start` sends no response of the edge runtime before the body has ended.
    if (router !== 'edge')
      it('responds 408 to a slow body', async () => {
        const { url } = app();
        const one = await signedDelivery(url + path, secret, callBody(randomUUID()));
        const half = requestBytes(one).subarray(0, -10);
        const { statuses } = await exchange(url, [half], { timeoutMs: 10_000 });
        expect(statuses).toEqual([408]);
      });

    it('never responds with 404, 410 or a redirect, whatever the method', async () => {
      const expected = (method: string) => {
        if (method === 'POST') return 401;
        if (router === 'pages') return 405;
        return OF_NEXT[method] ?? (APP_ROUTER_METHODS.includes(method) ? 405 : 400);
      };
      for (const method of METHODS.filter((one) => one !== 'CONNECT')) {
        const { status } = await sender().raw('', { method });
        expect({ method, status }).toEqual({ method, status: expected(method) });
      }
    });
  });
}
