import { describe, expect, it, jest } from '@jest/globals';
import { WebhookError } from '../../src/index.ts';

describe('WebhookError', () => {
  it('has a code, a name, a message and a cause', () => {
    const cause = new Error('why');
    const error = new WebhookError('replayed', 'seen before', { cause });
    expect(error).toMatchObject({
      code: 'replayed',
      name: 'WebhookError',
      message: 'seen before',
      cause,
    });
    expect(error).toBeInstanceOf(Error);
  });

  it('is recognized across copies of the package', async () => {
    jest.resetModules();
    const copy = await import('../../src/outcome/webhook-error.ts');
    expect(copy.WebhookError).not.toBe(WebhookError);
    expect(new copy.WebhookError('replayed', '') instanceof WebhookError).toBe(true);
    expect(new WebhookError('replayed', '') instanceof copy.WebhookError).toBe(true);
  });

  it.each([[new Error('x')], [{ code: 'replayed' }], [null], [undefined], ['replayed']])(
    'is not %p',
    (value) => {
      expect(value instanceof WebhookError).toBe(false);
    },
  );
});
