import { readFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { OUTCOMES, WebhookError } from '../../src/index.ts';
import { THROWN_ERRORS, docsUrl, STATUS } from '../../src/internal.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the outcome table', () => {
  it('acknowledges with 2xx and nothing else', () => {
    for (const { status, service } of Object.values(OUTCOMES))
      expect(service).toBe(status < 300 ? 'acknowledged' : 'retried');
  });

  it('has the status of each code', () => {
    for (const [code, { status }] of Object.entries(OUTCOMES))
      expect(STATUS[code as keyof typeof OUTCOMES]).toBe(status);
    expect(Object.keys(STATUS)).toEqual(Object.keys(OUTCOMES));
  });

  it('describes each code and its fix', () => {
    for (const { when, fix } of [...Object.values(OUTCOMES), ...Object.values(THROWN_ERRORS)]) {
      expect(when).toMatch(/^[A-Z].+\.$/);
      expect(fix).toMatch(/^[A-Z].+\.$/);
    }
  });
});

describe('docsUrl', () => {
  it('leads to the GitHub Pages of the repository', () => {
    const { repository } = JSON.parse(read('../../package.json')) as {
      repository: { url: string };
    };
    const [, owner = '', name = ''] = /github\.com\/(.+)\/(.+)\.git$/.exec(repository.url) ?? [];
    const site = `https://${owner}.github.io/${name}/`;
    expect(docsUrl('stores.md#redis')).toBe(`${site}stores.html#redis`);
    expect(docsUrl('stores.md')).toBe(`${site}stores.html`);
    expect(docsUrl('')).toBe(site);
  });

  it('links each code to a section of the docs', () => {
    const page = read('../../../../docs/outcomes.md');
    for (const code of Object.keys({ ...OUTCOMES, ...THROWN_ERRORS }))
      expect(page).toContain(`\n## ${code}\n`);
  });

  it('is part of errors thrown at start-up', () => {
    const error = new WebhookError('invalid-secret', 'The list is empty.');
    expect(error.message).toBe(`The list is empty. See ${docsUrl('outcomes.md#invalid-secret')}`);
    expect(new WebhookError('deadline', 'late').message).toBe('late');
  });
});

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
