import { expect, it } from '@jest/globals';
import { callBody } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

/** A log line says what failed, why, and what happens next. */
export function logging({ start }: AdapterTestContext): void {
  it('logs a failed handler with its causes, its event, the attempt and who retries', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:5432'), {
      code: 'ECONNREFUSED',
    });
    const { sender, entries } = await start({
      deadLetter: () => undefined,
      maxAttempts: 2,
      on: {
        'call:completed': (_event, { log }) => {
          log.info({ rows: 3 }, 'saving');
          log.debug('nothing');
          throw new TypeError('fetch failed', { cause: refused });
        },
      },
    });
    await sender.post(callBody('c1'));
    await sender.post(callBody('c1'));
    const failures = entries.filter(({ message }) => message.startsWith('call-webhooks: '));
    const fields = {
      ...{ eventName: 'call:completed', callId: 'c1', key: 'c1:call:completed' },
      ...{ webhookId: expect.any(String), durationMs: expect.any(Number), maxAttempts: 2 },
    };
    const why =
      'The handler failed: TypeError: fetch failed; cause: Error: connect ECONNREFUSED 10.0.0.5:5432';
    expect(failures).toMatchObject([
      {
        message: `call-webhooks: 500 handler-failed: ${why}`,
        fields: { ...fields, outcome: 'handler-failed', attempt: 1, retriedBy: 'service' },
      },
      {
        message: `call-webhooks: 200 dead-lettered: ${why}`,
        fields: { ...fields, outcome: 'dead-lettered', attempt: 2, retriedBy: 'nobody' },
      },
    ]);
    const [first] = failures;
    const err = first?.fields['err'] as { message: string; stack: string };
    expect(err.message).toContain('fetch failed');
    expect(err.stack).toContain('logging.ts');
    expect(first?.fields['docs']).toMatch(/^https:.*#handler-failed$/);
  });
}
