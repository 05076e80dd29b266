import { describe, expect, it } from '@jest/globals';
import { WebhookError, type ReceiverOptions } from '../../src/index.ts';
import { bytes, createTestReceiver, Lines, STARTED } from '../support.ts';

/** Sends one body, and gives its log line. */
async function lineOf(options: Partial<ReceiverOptions<never, never>>, body: unknown) {
  const logger = new Lines();
  const { send } = createTestReceiver({ ...options, logger });
  await send(body);
  const [entry, ...more] = logger.entries;
  if (!entry || more.length > 0) throw new Error('not one line');
  return { ...entry, text: logger.all.join() };
}

describe('the line of a failure', () => {
  it.each(['standard', 'off'] as const)(
    'never quotes a body that cannot be parsed, as the parser does (redact: %s)',
    async (redact) => {
      const { message, fields, text } = await lineOf({ redact }, bytes('Ada Lovelace'));
      expect(message).toBe('call-webhooks: 422 invalid-payload: The body is not valid JSON.');
      expect(fields).not.toHaveProperty('err');
      expect(text).not.toContain('Ada');
    },
  );

  it('has an error of this package in its message alone, and other errors in `err` too', async () => {
    const throwing = (error: Error) => ({ secret: () => Promise.reject(error) });
    const own = await lineOf(throwing(new WebhookError('replayed', 'seen before')), STARTED);
    expect(own.message).toContain('WebhookError: seen before');
    expect(own.fields).not.toHaveProperty('err');
    const other = await lineOf(throwing(new Error('seen before')), STARTED);
    expect(other.message).toContain('Error: seen before');
    expect(other.fields['err']).toMatchObject({ message: 'seen before' });
  });

  it('has an error of this package in `err` if a handler throws it, redacted as any other', async () => {
    const cause = new Error('order 7 for ada@example.com');
    const failing = () => Promise.reject(new WebhookError('replayed', 'seen before', { cause }));
    const on = { 'call:started': failing };
    const standard = await lineOf({ on }, STARTED);
    expect(standard.message).toContain(
      'WebhookError: seen before [replayed]; cause: Error: order 7 for [redacted]',
    );
    expect(standard.fields['err']).toMatchObject({ cause: { message: 'order 7 for [redacted]' } });
    const own = await lineOf({ on, redact: () => 'mine' }, STARTED);
    expect(own.message).toContain('The handler failed: mine: mine');
  });
});
