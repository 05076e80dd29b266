import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { WebhookError } from '@call-webhooks/core';
import { basicAuth, createConsole } from '../src/index.ts';
import { GETS, POSTS } from './attacks.ts';
import { open } from './support.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

describe('authorize', () => {
  it('is needed to start', () => {
    const { receiver } = open();
    const start = () => createConsole({ receiver } as never);
    expect(start).toThrow(WebhookError);
    expect(start).toThrow(/authorize is missing/);
    expect(() => createConsole({ receiver, authorize: true } as never)).toThrow(/authorize/);
  });

  it.each<[string, () => unknown]>([
    ['false', () => false],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => 'yes'],
    ['a number', () => 1],
    ['an object without a name', () => ({})],
    ['an empty name', () => ({ name: '' })],
    ['a name that is no text', () => ({ name: ['Ada'] })],
    [
      'an error',
      () => {
        throw new Error('the session store is down');
      },
    ],
    ['a rejection', () => Promise.reject(new Error('the session store is down'))],
  ])('lets nobody in with %s, whatever the path and method', async (_what, authorize) => {
    const { ask } = open({ authorize: authorize as never });
    const bodies = new Set<string>();
    for (const path of [...GETS, ...POSTS, '/unknown', '/api/../..', '//', '/%2e%2e/'])
      for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
        const response = await ask(path, { method });
        expect([method, path, response.status]).toEqual([method, path, 403]);
        expect(response.headers.get('cache-control')).toBe('no-store');
        if (method !== 'HEAD') bodies.add(await response.text());
      }
    expect([...bodies]).toEqual([expect.stringContaining('"unauthorized"')]);
  });

  it('can ask for credentials', async () => {
    const password = 'correct horse battery';
    const { ask } = open({ authorize: basicAuth({ ada: password, bob: 'another long password' }) });
    const status = async (given?: string) => {
      const authorization = `Basic ${Buffer.from(given ?? '').toString('base64')}`;
      const response = await ask(
        '/api/session',
        given === undefined ? {} : { headers: { authorization } },
      );
      if (response.status === 401)
        expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
      return response.status;
    };
    expect(await status()).toBe(401);
    expect(await status(`ada:${password}`)).toBe(200);
    for (const wrong of [
      '',
      'ada',
      'ada:',
      `bob:${password}`,
      `eve:${password}`,
      `ada:${password}x`,
    ])
      expect(await status(wrong)).toBe(401);
  });

  it('refuses names and passwords that nobody could sign in with', () => {
    const password = 'correct horse battery';
    expect(() => basicAuth({})).toThrow(WebhookError);
    expect(() => basicAuth({})).toThrow(/expected a name and its password/);
    expect(() => basicAuth({ 'ada:ops': password })).toThrow(/a name cannot have a colon/);
    expect(() => basicAuth({ ada: undefined })).toThrow(/16 characters/);
  });

  it('needs no password during next build, and lets nobody in without one', async () => {
    jest.replaceProperty(process, 'env', { NEXT_PHASE: 'phase-production-build' });
    const { ask, logger } = open({ authorize: basicAuth({ ada: undefined }) });
    expect((await ask('/')).status).toBe(403);
    expect(logger.lines.join()).toContain('Is the environment variable set?');
  });
});
