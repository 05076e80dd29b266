import { describe, expect, it } from '@jest/globals';
import { callBody } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

/** Whatever is sent to a mounted receiver, the rule is not paused by it. */
export function requests({ start, host }: AdapterTestContext): void {
  describe('requests of any kind', () => {
    it('never get 404, 410 or 3xx', async () => {
      const { sender, url } = await start({ on: {} });
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
      const methods = [
        'GET',
        'HEAD',
        'PUT',
        'PATCH',
        'DELETE',
        'OPTIONS',
        'POST',
        'PROPFIND',
        'TRACE',
      ];
      for (const method of methods) {
        const { status } = await sender.raw('', { method });
        const expected = host.refuses?.(method, '') ?? (method === 'POST' ? 401 : 405);
        expect({ method, status }).toEqual({ method, status: expected });
      }
      const bodies = [
        '',
        '[]',
        'null',
        '"x"',
        '\0',
        '{"eventName":"call:unheard-of"}',
        'x'.repeat(70_000),
      ];
      for (const body of bodies) {
        const kinds: Record<string, string>[] = [
          {},
          { 'content-type': 'text/plain' },
          { 'content-type': 'x' },
          { 'x-http-method-override': 'GET' },
        ];
        for (const headers of kinds) {
          for (const reply of [
            await sender.raw(body, { headers }),
            await sender.post(body, { headers }),
          ]) {
            const refused = host.refuses?.('POST', headers['content-type'] ?? '');
            expect([200, 401, 422, refused]).toContain(reply.status);
          }
        }
      }
    });

    it('a method override header does not make a GET a delivery', async () => {
      const { sender } = await start({ on: {} });
      const reply = await sender.post(callBody('c1'), {
        method: 'GET',
        headers: { 'x-http-method-override': 'POST' },
      });
      expect(reply.status).toBe(405);
    });
  });
}
