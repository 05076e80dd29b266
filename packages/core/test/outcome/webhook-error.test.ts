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

  it('says which event is invalid, and why', () => {
    const issues = [{ path: 'customer.name', code: 'invalid_type' }];
    const error = new WebhookError('invalid-payload', 'no', { eventName: 'call:started', issues });
    expect(error.eventName).toBe('call:started');
    expect(error.issues).toBe(issues);
    const other = new WebhookError('replayed', 'no');
    expect(other).not.toHaveProperty('eventName');
    expect(other).not.toHaveProperty('issues');
  });

  it('is recognized across copies and versions of the package', async () => {
    jest.resetModules();
    const copy = await import('../../src/errors.ts');
    expect(copy.WebhookError).not.toBe(WebhookError);
    expect(new copy.WebhookError('replayed', '') instanceof WebhookError).toBe(true);
    expect(new WebhookError('replayed', '') instanceof copy.WebhookError).toBe(true);
    // What a version that is installed already marks its errors with.
    const mark = Symbol.for('@call-webhooks/WebhookError');
    const published = Object.assign(new Error('no'), { [mark]: true });
    expect(published instanceof copy.WebhookError).toBe(true);
    expect(mark in new copy.WebhookError('replayed', '')).toBe(true);
  });

  it.each([[new Error('x')], [{ code: 'replayed' }], [null], [undefined], ['replayed']])(
    'is not %p',
    (value) => {
      expect(value instanceof WebhookError).toBe(false);
    },
  );
});
