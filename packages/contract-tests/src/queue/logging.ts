import { expect, it } from '@jest/globals';
import { collectingLogger } from '../collecting-logger.ts';
import { unique } from '../unique.ts';
import { waitFor } from '../wait-for.ts';
import { queuedCall } from './deliveries.ts';
import { MAX_ATTEMPTS, type OpenQueue } from './under-test.ts';

/** Workers log like receivers. */
export function workerLogging(open: OpenQueue): void {
  it('writes a line for each failed attempt: why, which event, how often, and who retries', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const logger = collectingLogger();
    const cause = new Error('connect ECONNREFUSED 10.0.0.5:5432');
    await startWorker({
      logger,
      on: {
        'call:completed': () => {
          throw new TypeError('fetch failed', { cause });
        },
      },
    });
    const callId = unique('call');
    const delivery = queuedCall(callId);
    await queue.enqueue(delivery);
    await waitFor(async () => (await deadLetters()).length > 0);
    const why =
      'The handler failed: TypeError: fetch failed; cause: Error: connect ECONNREFUSED 10.0.0.5:5432';
    const fields = {
      ...{ eventName: 'call:completed', callId, key: delivery.key, source: 'queue' },
      ...{ webhookId: delivery.webhookId, maxAttempts: MAX_ATTEMPTS },
    };
    expect(logger.entries).toMatchObject([
      {
        message: `call-webhooks: attempt 1 of 3 failed: ${why}`,
        fields: { ...fields, outcome: 'handler-failed', attempt: 1, retriedBy: 'queue' },
      },
      {
        message: `call-webhooks: attempt 2 of 3 failed: ${why}`,
        fields: { ...fields, outcome: 'handler-failed', attempt: 2, retriedBy: 'queue' },
      },
      {
        message: `call-webhooks: gave up after 3 attempts: ${why}`,
        fields: { ...fields, outcome: 'dead-lettered', attempt: 3, retriedBy: 'nobody' },
      },
    ]);
    expect(logger.entries[0]?.fields['err']).toMatchObject({ name: 'TypeError', cause });
  });
}
