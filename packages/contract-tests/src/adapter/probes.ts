import { describe, expect, it } from '@jest/globals';
import type { AdapterTestContext } from './under-test.ts';

async function probe(url: string) {
  const response = await fetch(url);
  const header = (name: string) => response.headers.get(name);
  const headers = [header('content-type'), header('cache-control')];
  return { status: response.status, headers, body: await response.json() };
}

/** `ready` answers in the form in which the framework calls it. */
export function probes({ start }: AdapterTestContext): void {
  describe('ready', () => {
    const headers = [expect.stringContaining('application/json'), 'no-store'];

    it('responds 200 while a delivery would be accepted, and 503 once the receiver closes', async () => {
      const { readyUrl, receiver } = await start();
      const up = { ok: true, closing: false, store: 'up' };
      expect(await probe(readyUrl)).toEqual({ status: 200, headers, body: up });
      await receiver.close();
      const down = { ok: false, closing: true, store: 'up' };
      expect(await probe(readyUrl)).toEqual({ status: 503, headers, body: down });
    });

    it('responds 503 while the queue is down, and does not tell why', async () => {
      const ping = () => Promise.reject(new Error('connect ECONNREFUSED db.internal:5432'));
      const { readyUrl } = await start({ queue: { enqueue: () => Promise.resolve(), ping } });
      const body = { ok: false, closing: false, store: 'up', queue: 'down' };
      expect(await probe(readyUrl)).toEqual({ status: 503, headers, body });
    });
  });
}
