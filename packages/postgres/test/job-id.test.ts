import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { continuedJobId, jobId } from '../src/job-id.ts';
import { DELIVERY } from './recording-boss.ts';

/** The digits of the hash, except those two that say which UUID it is. */
function digitsOf(text: string): string {
  const hex = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
  return `${hex.slice(0, 12)}${hex.slice(13, 16)}${hex.slice(17, 32)}`;
}

describe('the id of a job', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    'is a UUID of version 8, with the digits of a hash (%d)',
    async (number) => {
      const key = `call-${String(number)}`;
      const id = await jobId({ ...DELIVERY, key });
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      const digits = id.replaceAll('-', '');
      expect(digits.slice(0, 12) + digits.slice(13, 16) + digits.slice(17)).toBe(
        digitsOf(`event ${key}`),
      );
    },
  );

  it('is the same in each version of this package: a job may be there already', async () => {
    expect(await jobId({ ...DELIVERY, key: 'call-1' })).toBe(
      '596ab64a-6565-87ef-9f73-658e975bddca',
    );
    expect(await continuedJobId('job-1')).toBe('a966d248-b5de-8f97-ae40-9077ae7f5fd4');
  });

  it('comes from the key, whatever the webhook id and the tenant are: the key has the tenant', async () => {
    const id = await jobId(DELIVERY);
    expect(await jobId({ ...DELIVERY, webhookId: 'another', tenant: 'acme' })).toBe(id);
  });

  it('without a key comes from the webhook id and the tenant, and is never that of a key', async () => {
    const { key: _key, ...delivery } = DELIVERY;
    const ids = await Promise.all([
      jobId(delivery),
      jobId({ ...delivery, webhookId: 'webhook-2' }),
      jobId({ ...delivery, tenant: 'acme' }),
      jobId({ ...delivery, key: delivery.webhookId }),
      continuedJobId(delivery.webhookId),
    ]);
    expect(new Set(ids).size).toBe(5);
    expect(await jobId({ ...delivery, receivedAt: 5 })).toBe(ids[0]);
    expect(ids[0].replaceAll('-', '').slice(0, 12)).toBe(
      digitsOf('webhook webhook-1').slice(0, 12),
    );
  });
});
