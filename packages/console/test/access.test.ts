import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, WebhookError } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import type { Session } from '../src/api-types.ts';
import { basicAuth, consoleStats, createConsole } from '../src/index.ts';
import { attack, GETS, POSTS } from './attacks.ts';
import { open, OWN_PAGE } from './support.ts';

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
    const env = jest.replaceProperty(process, 'env', { NEXT_PHASE: 'phase-production-build' });
    const { ask, logger } = open({ authorize: basicAuth({ ada: undefined }) });
    env.restore();
    expect((await ask('/')).status).toBe(403);
    expect(logger.lines.join()).toContain('Is the environment variable set?');
  });
});

describe('a change', () => {
  it('needs a token', async () => {
    expect(await attack(({ 'x-call-webhooks-csrf': _token, ...rest }) => rest)).toEqual([
      'csrf-token',
    ]);
  });

  it.each([
    ['', ''],
    ['another text', 'x'],
    ['another signature', `zzzzzzzz.${'A'.repeat(43)}`],
  ])('refuses %s as a token', async (_what, token) => {
    expect(await attack((own) => ({ ...own, 'x-call-webhooks-csrf': token }))).toEqual([
      'csrf-token',
    ]);
  });

  it('refuses the token of somebody else, of another process, and an old one', async () => {
    let name = 'Eve';
    const { ask, get, clock } = open({ authorize: () => ({ name }) });
    const { csrfToken } = await get<Session>('/api/session');
    const abort = async (token: string) => {
      const headers = {
        ...OWN_PAGE,
        'content-type': 'application/json',
        'x-call-webhooks-csrf': token,
      };
      return (await ask('/api/redrive/abort', { method: 'POST', headers, body: '{}' })).status;
    };
    expect(await abort(csrfToken)).toBe(200);
    name = 'Ada';
    expect(await abort(csrfToken)).toBe(403);
    name = 'Eve';
    const other = await open({ authorize: () => ({ name }) }).get<Session>('/api/session');
    expect(await abort(other.csrfToken)).toBe(403);
    clock.now += 12 * 3_600_000 - 1;
    expect(await abort(csrfToken)).toBe(200);
    clock.now += 1;
    expect(await abort(csrfToken)).toBe(403);
  });

  it('takes the token of another process with the same csrfKey', async () => {
    const csrfKey = 'k'.repeat(32);
    const { csrfToken } = await open({ csrfKey }).get<Session>('/api/session');
    const { send } = open({ csrfKey });
    const response = await send('/api/redrive/abort', {}, { 'x-call-webhooks-csrf': csrfToken });
    expect(response.status).toBe(200);
    expect(() => open({ csrfKey: 'short' })).toThrow(/csrfKey/);
  });
});

const started = (options: object) => () => {
  const { receiver } = open();
  return createConsole({ receiver, authorize: () => true, ...options });
};
const client = { baseUrl: 'https://api.test', calls: {} };

describe('createConsole fails at once', () => {
  it.each<[string, object, RegExp]>([
    ['a reconcile without a client', { reconcile: {} }, /reconcile: client: it is missing/],
    ['a client in place of { client }', { reconcile: client }, /there is no option "baseUrl"/],
    [
      'a concurrency that is out of range',
      { reconcile: { client, concurrency: 0 } },
      /concurrency: expected a whole number from 1 to 100/,
    ],
    [
      'an option that the console sets',
      { reconcile: { client, since: new Date() } },
      /there is no option "since"/,
    ],
    ['an unknown option of redrive', { redrive: { all: true } }, /there is no option "all"/],
    ['statistics of nothing', { stats: {} }, /stats: expected an object with flush/],
  ])('with %s', (_what, options, problem) => {
    expect(started(options)).toThrow(problem);
  });

  it('with the handler of an adapter, and says where its receiver is', async () => {
    const hook = callWebhooks({ secret: open().secret });
    expect(started({ receiver: hook })).toThrow(/Pass .* receiver: hook\.receiver/);
    expect(started({ receiver: { deliver: () => undefined } })).toThrow(/object with health/);
    await started({ receiver: hook.receiver, reconcile: { client } })().close();
    await hook.receiver.close();
  });
});

describe('consoleStats', () => {
  it.each<[string, object | undefined]>([
    ['nothing', undefined],
    ['no option', {}],
    ['a store that is not set', { store: undefined }],
    ['a name alone', { name: 'workers' }],
  ])('with %s fails at once: no process would share anything', (_what, options) => {
    expect(() => consoleStats(options as never)).toThrow(/consoleStats: store is missing/);
  });

  it('takes a store, or a capacity for this process', async () => {
    await consoleStats({ capacity: 5 }).close();
    await consoleStats({ store: memoryStore() }).close();
  });
});
