import { describe, expect, it } from '@jest/globals';
import { generateSecret, type TenantRequest } from '@call-webhooks/core';
import { callBody } from '@call-webhooks/store-tests/internal';
import { startSender } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'POST', 'PROPFIND', 'TRACE'];

/** Requests of any kind get in, and the rule is not paused by them. */
export function requests({ start, host }: AdapterTestContext): void {
  describe('requests of any kind', () => {
    it('never get 404, 410 or 3xx, whatever the method', async () => {
      const { sender } = await start({});
      for (const method of METHODS) {
        const { status } = await sender.raw('', { method });
        const expected = host.refuses?.(method, '') ?? (method === 'POST' ? 401 : 405);
        expect({ method, status }).toEqual({ method, status: expected });
      }
      const reply = await sender.post(callBody('c1'), {
        method: 'GET',
        headers: { 'x-http-method-override': 'POST' },
      });
      expect(reply.status).toBe(405);
    });

    it('never get 404, 410 or 3xx, whatever the body and its type', async () => {
      const { sender } = await start({});
      const expected = { '[]': 200, null: 200, '"x"': 200, '\0': 422, ['x'.repeat(70_000)]: 422 };
      for (const [body, status] of Object.entries(expected))
        expect({ body, ...(await sender.post(body)) }).toMatchObject({ body, status });
      for (const type of ['text/plain', 'x', 'multipart/form-data; boundary=x']) {
        const headers = { 'content-type': type };
        const refused = host.refuses?.('POST', type);
        expect([refused ?? 200]).toContain((await sender.post('[]', { headers })).status);
        expect([refused ?? 401]).toContain((await sender.raw('[]', { headers })).status);
      }
    });

    it('are seen by the option tenant as they were sent', async () => {
      const seen: TenantRequest[] = [];
      const secret = generateSecret();
      const { url, outcomes } = await start({
        tenant: ({ path, query, host: asked, headers }) => {
          seen.push({ path, query, host: asked, headers });
          return 'acme';
        },
        secret: ({ tenant }) => (tenant === 'acme' ? secret : undefined),
      });
      const { host: sentTo, pathname } = new URL(url);
      const sender = startSender(`${url}?workspace=acme`, secret);
      const sent = { headers: { 'x-workspace': 'Acme' } };
      expect((await sender.post(callBody('c1'), sent)).status).toBe(200);
      expect(seen).toMatchObject([{ path: pathname, host: sentTo }]);
      expect(seen[0]!.query.get('workspace')).toBe('acme');
      expect(seen[0]!.headers['x-workspace']).toBe('Acme');
      expect(outcomes).toMatchObject([{ tenant: 'acme' }]);
    });
  });
}
