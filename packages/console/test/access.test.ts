import { describe, expect, it, jest } from '@jest/globals';
import { WebhookError } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import type { Session } from '../src/api-types.ts';
import { basicAuth, createConsole, type Decision } from '../src/index.ts';
import { codeOf, open, OWN_PAGE, withLetter, type Options } from './support.ts';

const GETS = [
  ...['', '/', '/assets/page.js', '/api/session', '/api/overview', '/api/deliveries', '/api/tasks'],
  ...['/api/deliveries/w1', '/api/calls/c1', '/api/dead-letters', '/api/dead-letters/x'],
];
const POSTS = [
  ...['/api/dead-letters/x/reveal', '/api/dead-letters/x/remove', '/api/redrive'],
  ...['/api/redrive/stop', '/api/reconcile', '/api/reconcile/stop', '/api/remove'],
  ...['/api/remove/stop', '/api/erase', '/api/erase/stop', '/api/dead-letters/search'],
];

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

  it('that never settles is answered 503, and lets nobody in', async () => {
    jest.useFakeTimers();
    try {
      const { ask, logger } = open({ authorize: () => new Promise<never>(() => undefined) });
      const asked = ask('/api/session');
      await jest.advanceTimersByTimeAsync(5_000);
      const response = await asked;
      expect([response.status, await codeOf(response)]).toEqual([503, 'unavailable']);
      expect(logger.lines.join()).toContain('authorize did not settle within 5000 ms');
    } finally {
      jest.useRealTimers();
    }
  });

  it('shows a person who opens the page, and may not, where to sign in', async () => {
    const html = { headers: { accept: 'text/html,*/*' } };
    const { ask } = open({ authorize: () => false, signIn: '/login?next=/ops&x="' });
    const page = await ask('', html);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      403,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('<a href="/login?next=/ops&#38;x=&#34;">Sign in</a>');
    expect(await codeOf(await ask('/api/session', html))).toBe('unauthorized');
    expect(await codeOf(await ask(''))).toBe('unauthorized');
    const without = await (await open({ authorize: () => false }).ask('', html)).text();
    expect(without).not.toContain('<a ');
  });

  it.each([
    ['correct horse battery', 'another long password'],
    ['sixteen letters!', 'sixteen letters?'],
    // Only the first colon ends the name.
    ['correct:horse:battery:', 'correct:horse:battery'],
    ['пароль из слов ✓', 'пароль из слов ✗'],
  ])('can ask for credentials: %s', async (password, other) => {
    const { ask } = open({ authorize: basicAuth({ ada: password, bob: other }) });
    const status = async (given?: string, scheme = 'Basic') => {
      const authorization = `${scheme} ${Buffer.from(given ?? '').toString('base64')}`;
      const response = await ask(
        '/api/session',
        given === undefined ? {} : { headers: { authorization } },
      );
      if (response.status !== 401) return ((await response.json()) as Session).name;
      expect(response.headers.get('www-authenticate')).toBe(
        'Basic realm="call webhooks", charset="UTF-8"',
      );
      return 401;
    };
    expect(await status()).toBe(401);
    expect(await status(`ada:${password}`)).toBe('ada');
    expect(await status(`bob:${other}`, 'bASIC')).toBe('bob');
    expect(await status(`ada:${password}`, 'Bearer')).toBe(401);
    for (const wrong of [
      ...['', 'ada', 'ada:', ':', `:${password}`, `bob:${password}`, `eve:${password}`],
      ...[`ada:${password}x`, `Ada:${password}`, `ada:${password.slice(0, -1)}`, 'toString:'],
    ])
      expect([wrong, await status(wrong)]).toEqual([wrong, 401]);
    const page = await ask('', { headers: { accept: 'text/html' } });
    expect(page.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
  });

  it('refuses names and passwords that nobody could sign in with', () => {
    const password = 'sixteen letters!';
    expect(() => basicAuth({})).toThrow(WebhookError);
    expect(() => basicAuth({})).toThrow(/expected at least one name with its password/);
    expect(() => basicAuth({ 'ada:ops': password })).toThrow(/a name cannot contain a colon/);
    for (const short of [undefined, '', password.slice(1)])
      expect(() => basicAuth({ bob: password, ada: short })).toThrow(/16 characters/);
  });

  it('needs no password during next build, and lets nobody in without one', async () => {
    const env = jest.replaceProperty(process, 'env', { NEXT_PHASE: 'phase-production-build' });
    const { ask, logger } = open({ authorize: basicAuth({ ada: undefined }) });
    env.restore();
    expect((await ask('/')).status).toBe(403);
    expect(logger.lines.join()).toContain('Is the environment variable set?');
  });
});

/**
 * Sends every change to a console with one dead letter, and checks that nothing changed.
 * @returns the codes of the refusals
 */
async function attack(headers: Record<string, string | undefined>, options: Options = {}) {
  const { ask, deadLetters, id, logger } = await withLetter(options);
  const sent = Object.fromEntries(
    Object.entries<string | undefined>({ ...OWN_PAGE, ...headers }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as Record<string, string>;
  const codes = new Set<string>();
  for (const path of [
    ...POSTS,
    `/api/dead-letters/${id}/remove`,
    `/api/dead-letters/${id}/reveal`,
  ]) {
    const response = await ask(path, { method: 'POST', headers: sent, body: '{"all":true}' });
    expect(response.status).toBeGreaterThanOrEqual(400);
    codes.add(await codeOf(response));
  }
  expect(await deadLetters.count()).toBe(1);
  const told = logger.lines.filter((line) => line.includes('console:'));
  expect(told.filter((line) => !line.includes('requests were refused'))).toEqual([]);
  return [...codes];
}

describe('a change', () => {
  const NO_SITE = { 'sec-fetch-site': undefined };
  it.each<[string, Record<string, string | undefined>]>([
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' }],
    ['from a sibling site', { 'sec-fetch-site': 'same-site', origin: 'https://evil.ops.test' }],
    ['opened by the user', { 'sec-fetch-site': 'none' }],
    ['of a browser without Sec-Fetch-Site', { ...NO_SITE, origin: 'https://evil.test' }],
    ['of a sandboxed page', { ...NO_SITE, origin: 'null' }],
    ['without an origin', { origin: undefined }],
    ['without both', { ...NO_SITE, origin: undefined }],
    ['with nonsense as its origin', { ...NO_SITE, origin: 'ops.test' }],
  ])('is refused %s', async (_what, headers) => {
    expect(await attack({ host: 'ops.test', ...headers })).toEqual(['cross-origin']);
  });

  it.each([
    [undefined],
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data'],
    ['application/jsonp'],
    ['text/plain;application/json'],
  ])('is refused as %s, which a form of another site can send', async (type) => {
    expect(await attack({ 'content-type': type })).toEqual(['unsupported-type']);
  });

  it('is let through from the page, also by a browser that sends no Sec-Fetch-Site', async () => {
    const { ask } = open();
    const stop = async (headers: Record<string, string>) =>
      (
        await ask('/api/redrive/stop', {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: 'https://ops.test', ...headers },
          body: '{}',
        })
      ).status;
    expect(await stop({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await stop({ host: 'ops.test' })).toBe(200);
    expect(await stop({ host: 'OPS.test' })).toBe(200);
    expect(await stop({ host: 'inner:8080' })).toBe(403);
  });

  it('behind a proxy has to come from the origin that the console was told', async () => {
    const origin = 'https://ops.example.com:443';
    const { send } = open({ origin });
    expect(
      (await send('/api/redrive/stop', {}, { origin: 'https://ops.example.com' })).status,
    ).toBe(200);
    expect(await attack({}, { origin })).toEqual(['cross-origin']);
  });

  it.each<[string, Options]>([
    ['a console that is read-only', { readOnly: true }],
    ['a person who may only read', { authorize: () => ({ name: 'Eve', canWrite: false }) }],
    ['a person of whom nobody knows', { authorize: () => ({ name: 'E', canWrite: 1 as never }) }],
  ])('is refused for %s', async (_what, options) => {
    expect(await attack({}, options)).toEqual(['read-only']);
    const { get } = open(options);
    expect(await get('/api/session')).toMatchObject({ canWrite: false });
  });
});

it('an operator with an endless name, or one with line breaks, is shown with 200 characters in a line', async () => {
  const { get } = open({ authorize: () => ({ name: `Eve\n${'x'.repeat(10_000)}` }) });
  const { name } = await get<Session>('/api/session');
  expect(name).toHaveLength(200);
  expect(name).toMatch(/^Eve\S*x$/);
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
    ['a sign-in that is a script', { signIn: 'javascript:alert(1)' }, /signIn: expected a path/],
    ['a sign-in elsewhere', { signIn: '//evil.test' }, /signIn: expected a path/],
    ['an option that is gone', { csrfKey: 'k'.repeat(32) }, /there is no option "csrfKey"/],
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

describe('a refused request leaves a trace', () => {
  const lines = ({ logger }: ReturnType<typeof open>) =>
    logger.entries.filter(({ message }) => message.includes('requests were refused'));

  it('at once, and then once a minute however many there are, without what was sent', async () => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    try {
      const opened = open({ authorize: basicAuth({ ada: 'correct horse battery' }) });
      const guess = (text: string) => ({
        headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
      });
      await opened.ask('/api/session');
      expect(lines(opened)).toEqual([]); // the browser asks whether it has to sign in
      await opened.ask('/api/session', guess('mallory:hunter2hunter2hunter2'));
      expect(lines(opened)).toMatchObject([{ fields: { refused: { unauthorized: 1 } } }]);
      for (let n = 0; n < 500; n++) await opened.ask('/api/session', guess(`mallory:guess-${n}`));
      expect(lines(opened)).toHaveLength(1);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(lines(opened)).toHaveLength(2);
      expect(lines(opened)[1]).toMatchObject({
        fields: { refused: { unauthorized: 500 } },
        message: expect.stringContaining('500 refused by authorize'),
      });
      await jest.advanceTimersByTimeAsync(600_000);
      expect(lines(opened)).toHaveLength(2);
      const written = JSON.stringify(opened.logger.entries);
      expect(written).not.toMatch(/hunter2|guess-|mallory|Basic /);
    } finally {
      jest.useRealTimers();
    }
  });

  it('of every kind: an expired session, another origin, a change by who may only read', async () => {
    let decision: Decision = false;
    const opened = open({ authorize: () => decision });
    await opened.ask('/api/session');
    decision = { name: 'Bob', canWrite: false };
    await opened.send('/api/redrive', { all: true });
    await opened.send('/api/redrive', { all: true }, { 'sec-fetch-site': 'cross-site' });
    await opened.ask('/api/overview', { headers: { 'sec-fetch-site': 'cross-site' } });
    await opened.ask('/api/overview?a=b'); // a mistake is no refusal
    await opened.console.close();
    expect(lines(opened).map(({ fields }) => fields['refused'])).toEqual([
      { unauthorized: 1 },
      { 'read-only': 1, 'cross-origin': 2 },
    ]);
    expect(JSON.stringify(opened.logger.entries)).not.toContain('evil.test');
  });

  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['<script>', undefined],
  ])('with the network of %s, and not the address', async (ip, network) => {
    const opened = open({ authorize: () => false });
    const request = Object.assign(new Request('https://ops.test/ops/webhooks'), { ip });
    await opened.console.fetch(request);
    const [line] = lines(opened);
    expect(line?.fields['networks']).toEqual(network === undefined ? undefined : [network]);
    expect(JSON.stringify(line)).not.toContain(ip);
  });

  it('with five networks at most, each once', async () => {
    const opened = open({ authorize: () => false });
    const from = (ip: string) =>
      opened.console.fetch(Object.assign(new Request('https://ops.test/ops/webhooks'), { ip }));
    await from('203.0.113.1');
    for (let n = 0; n < 20; n++) await from(`198.51.${String(n)}.1`);
    for (let n = 0; n < 20; n++) await from(`198.51.0.${String(n)}`);
    await opened.console.close();
    expect(lines(opened)[1]?.fields).toMatchObject({
      refused: { unauthorized: 40 },
      networks: [0, 1, 2, 3, 4].map((n) => `198.51.${String(n)}.0/24`),
    });
  });
});
