import { describe, expect, it } from '@jest/globals';
import type { QueuedDelivery, SecretProvider } from '../../src/index.ts';
import { createTestReceiver, STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const secret: SecretProvider = ({ tenant }) => secretOf(tenant);

/** A queue that keeps what it gets. */
function keepingQueue() {
  const queued: QueuedDelivery[] = [];
  const enqueue = (delivery: QueuedDelivery) => Promise.resolve(void queued.push(delivery));
  return { queued, queue: { enqueue } };
}

/** What a receiver reports of a delivery that its queue refuses. */
async function refused(payload: unknown, error: Error) {
  const sources: string[] = [];
  const { send, outcomes } = createTestReceiver({
    queue: { enqueue: () => Promise.reject(error) },
    onError: (_thrown, { source }) => void sources.push(source),
  });
  const code = await send(payload);
  return { code, sources, message: outcomes[0]?.error?.message };
}

describe('a delivery for the queue', () => {
  it('names its tenant', async () => {
    const { queued, queue } = keepingQueue();
    const { send } = createTenantsReceiver({ secret, queue });
    expect(await send('acme', STARTED)).toBe('queued');
    expect(queued).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
  });

  it('has no fields that its payload does not have', async () => {
    const { queued, queue } = keepingQueue();
    const { send } = createTestReceiver({ queue });
    expect(await send({ any: 'thing' })).toBe('queued');
    const [delivery = {}] = queued;
    expect(Object.keys(delivery)).toEqual(['webhookId', 'timestamp', 'receivedAt', 'body']);
  });

  it('that the queue refuses is reported with the cause, without personal data', async () => {
    const event = { ...STARTED, recipientName: 'Ada Lovelace' };
    expect(await refused(event, new Error('no room for Ada Lovelace'))).toEqual({
      code: 'store-unavailable',
      sources: ['queue'],
      message: 'The queue did not accept the delivery: Error: no room for [redacted]',
    });
  });
});
