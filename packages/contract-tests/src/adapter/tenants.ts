import { describe, expect, it } from '@jest/globals';
import { generateSecret, type TenantRequest } from '@call-webhooks/core';
import { callBody, startSender } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

/** Many workspaces at one endpoint. */
export function tenants({ start }: AdapterTestContext): void {
  describe('tenants', () => {
    it('are named by the same view of the request', async () => {
      const seen: TenantRequest[] = [];
      const secret = generateSecret();
      const { url } = await start({
        tenant: ({ path, query, host, headers }) => {
          seen.push({ path, query, host, headers });
          return 'acme';
        },
        secret: ({ tenant }) => (tenant === 'acme' ? secret : undefined),
      });
      const { host, pathname } = new URL(url);
      const sender = startSender(`${url}?workspace=acme`, secret);
      const sent = { headers: { 'x-workspace': 'Acme' } };
      expect((await sender.post(callBody('c1'), sent)).status).toBe(200);
      expect(seen).toHaveLength(1);
      const [{ path, query, host: seenHost, headers } = {} as TenantRequest] = seen;
      expect({ path, host: seenHost }).toEqual({ path: pathname, host });
      expect(query.get('workspace')).toBe('acme');
      expect(headers['x-workspace']).toBe('Acme');
    });

    it('have secrets and events of their own, and an unknown one is a forgery', async () => {
      const secrets = new Map([
        ['a', generateSecret()],
        ['b', generateSecret()],
      ]);
      const runs: unknown[] = [];
      const { sender, outcomes } = await start({
        tenant: ({ headers }) => headers['x-workspace'],
        secret: ({ tenant }) => secrets.get(tenant),
        on: { 'call:completed': (_event, { tenant, key }) => void runs.push([tenant, key]) },
      });
      const post = (tenant: string, signedBy: string) =>
        sender.post(callBody('c1'), {
          secret: secrets.get(signedBy) ?? generateSecret(),
          headers: { 'x-workspace': tenant },
        });
      const handled = { status: 200, outcome: 'handled' };
      const forged = { status: 401, outcome: 'signature-mismatch' };
      expect(await post('a', 'a')).toEqual(handled);
      expect(await post('b', 'b')).toEqual(handled);
      expect(await post('b', 'b')).toEqual({ status: 200, outcome: 'duplicate' });
      expect(await post('b', 'a')).toEqual(forged);
      expect(await post('stranger', 'stranger')).toEqual(forged);
      expect(runs).toEqual([
        ['a', 'tenant:a:c1:call:completed'],
        ['b', 'tenant:b:c1:call:completed'],
      ]);
      expect(outcomes.map(({ tenant }) => tenant)).toEqual(['a', 'b', 'b', 'b', 'stranger']);
    });
  });
}
