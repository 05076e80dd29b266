import { describe, expect, it, jest } from '@jest/globals';
import { WebhookError } from '@call-webhooks/core';
import type { DeadLettersPage, Overview } from '../src/api-types.ts';
import { callBody, codeOf, failing, open, withLetter } from './support.ts';

const HTML = { 'content-type': 'text/html; charset=utf-8' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const SCRIPT = 'text/javascript; charset=utf-8';
const NEVER = { 'cache-control': 'no-store' };
const FOREVER = { 'cache-control': 'private, max-age=31536000, immutable' };
const VARIES = { vary: 'authorization, cookie' };
/** What keeps an answer out of frames, scripts and other sites. */
const ALWAYS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

describe('every answer', () => {
  it.each([
    ['the page', '', 200, { ...NEVER, ...VARIES, ...HTML }],
    ['the page, with a slash', '/', 200, { ...NEVER, ...VARIES, ...HTML }],
    ['a script of the page', 'app.js', 200, { ...FOREVER, ...VARIES, 'content-type': SCRIPT }],
    ['a file that is not there', '/assets/x', 400, { ...NEVER, ...JSON_TYPE }],
    ['an unknown path', '/unknown', 400, { ...NEVER, ...JSON_TYPE }],
    ['an invalid query', '/api/overview?a=b', 400, { ...NEVER, ...JSON_TYPE }],
    ['a wrong method', '/api/redrive', 405, { ...NEVER, ...JSON_TYPE, allow: 'POST' }],
    ...['session', 'overview', 'deliveries', 'tasks', 'calls/c1', 'dead-letters', 'times'].map(
      (path) => [path, `/api/${path}`, 200, { ...NEVER, ...JSON_TYPE }] as const,
    ),
  ] as const)(
    'has exactly these headers, and none else to HEAD: %s',
    async (_what, path, status, headers) => {
      const { ask } = await withLetter();
      const script = /app-\w+\.js/.exec(await (await ask('')).text())?.[0] ?? '';
      for (const method of ['GET', 'HEAD']) {
        const response = await ask(path === 'app.js' ? `/assets/${script}` : path, { method });
        expect([method, response.status, Object.fromEntries(response.headers)]).toEqual([
          ...[method, status],
          { ...ALWAYS, ...headers },
        ]);
        expect((await response.text()) === '').toBe(method === 'HEAD');
      }
    },
  );

  it.each([
    ['GET', '/', 'text/html,*/*', 'text/html; charset=utf-8'],
    ['HEAD', '/', 'text/html', 'text/html; charset=utf-8'],
    ['GET', '', 'text/html', 'text/html; charset=utf-8'],
    ['GET', '/', 'application/json', 'application/json; charset=utf-8'],
    ['GET', '/', undefined, 'application/json; charset=utf-8'],
    ['POST', '/', 'text/html', 'application/json; charset=utf-8'],
    ['GET', '/api/session', 'text/html', 'application/json; charset=utf-8'],
    ['GET', '/assets/x', 'text/html', 'application/json; charset=utf-8'],
  ])('that refuses %s %s to a client that accepts %s is %s', async (method, path, accept, type) => {
    const { ask } = open({ authorize: () => false, signIn: '/login?a&b' });
    const headers = accept === undefined ? undefined : { accept };
    const response = await ask(path, { method, ...(headers && { headers }) });
    expect([response.status, response.headers.get('content-type')]).toEqual([403, type]);
    const text = await response.text();
    if (method === 'HEAD') expect(text).toBe('');
    else if (type === HTML['content-type']) {
      expect(text).toContain('You do not have access to this console.');
      expect(text).toContain('<a href="/login?a&#38;b">Sign in</a>');
    } else
      expect(JSON.parse(text)).toEqual({
        error: { code: 'unauthorized', message: 'You do not have access to this console.' },
      });
  });

  it('is no data for a page of another site', async () => {
    const { ask } = open();
    const status = async (site: string) =>
      (await ask('/api/overview', { headers: { 'sec-fetch-site': site } })).status;
    expect(await status('cross-site')).toBe(403);
    expect(await status('same-site')).toBe(403);
    expect(await status('none')).toBe(200);
  });

  it('is never 404, 410 or 3xx, whatever the path', async () => {
    const { ask } = open();
    const tricks = [
      ...['/x', '/api', '/api/', '/api/x', '/api//overview', '//api/overview', '/api/overview//'],
      ...['/assets', '/assets/', '/assets/../index.html', '/assets/%2e%2e/index.html'],
      ...['/index.html', '/assets/..%2f..%2fpackage.json', '/..%2f..%2fetc/passwd', '/%5c..%5c'],
      ...['/api%2foverview', '/api/overview%00', '/api/calls/', '/api/dead-letters//reveal'],
      ...['/__proto__', '/constructor', '/assets/__proto__', '/assets/constructor'],
      ...['/API/overview', '/api/overview;x=1'],
    ];
    for (const path of tricks) {
      const response = await ask(path);
      expect([path, response.status]).toEqual([path, 400]);
      expect(await codeOf(response)).toBe('unknown-path');
    }
    for (const path of ['/api/calls/%', '/api/calls/%E0%A4%A', '/api/dead-letters/%zz'])
      expect(await codeOf(await ask(path))).toBe('invalid-request');
    expect((await ask('/api/overview/')).status).toBe(200);
    expect((await ask('/../../elsewhere')).status).toBe(400);
    const wrong = await ask('/api/overview', { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('quotes nothing of a request', async () => {
    const { ask } = open();
    const script = '<script>alert(1)</script>';
    for (const path of [
      `/${script}`,
      `/api/deliveries?outcome=${script}`,
      `/api/deliveries?${script}=1`,
      `/api/dead-letters/${script}`,
      `/api/dead-letters?limit=${script}`,
    ]) {
      const response = await ask(path, { headers: { referer: 'https://evil.test/' } });
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.text()).not.toMatch(/script|evil|alert/);
    }
  });

  it('tells nothing of an error that nobody expected', async () => {
    const { ask, receiver, logger } = open();
    const health = jest
      .spyOn(receiver, 'health')
      .mockRejectedValue(new Error('password=hunter2hunter2'));
    const response = await ask('/api/overview');
    expect([response.status, await codeOf(response)]).toEqual([500, 'internal']);
    expect(logger.lines.join()).not.toContain('hunter2');
    health.mockRestore();
  });
});

it.each([
  ['deliveries?outcome=nonsense', 'outcome: expected one of handled, duplicate'],
  ['deliveries?result=won', 'result: expected one of handled, duplicate'],
  ['deliveries?source=x', 'source: expected one of webhook, queue, redrive, reconcile'],
  ['deliveries?text=a&text=b', 'text: expected one value, but the parameter is repeated'],
  [`deliveries?call=${'x'.repeat(301)}`, 'call: expected at most 300 characters'],
  ['deliveries?a=b', 'expected only result, outcome'],
  ['session?a=b', 'expected no parameters'],
  ['dead-letters?limit=201', 'limit: expected a whole number from 1 to 200'],
  ['dead-letters?limit=1e2', 'limit: expected a whole number from 1 to 200'],
  ['dead-letters?offset=-1', 'offset: expected a whole number from 0'],
  ['dead-letters?reason=bad', 'reason: expected one of handler-failed, invalid-payload'],
  ['dead-letters?since=5', 'expected only event, tenant, text, reason, cause, offset, limit'],
  ['dead-letters?cursor=x', 'expected only event, tenant'],
  ['dead-letters?ids=1', 'expected only event, tenant'],
  ['dead-letters?limit=0', 'limit: expected a whole number from 1 to 200'],
  ['dead-letters?limit=NaN', 'limit: expected a whole number from 1 to 200'],
  ['dead-letters?event=%00', 'event: expected no control characters'],
  [`dead-letters?tenant=${'x'.repeat(129)}`, 'Invalid options of list: tenant: expected'],
  ['deliveries?tenant=a%00b', 'tenant: expected no control characters'],
  ['deliveries?before=nonsense', 'This list never returned such a cursor'],
  ['deliveries?before=-1', 'This list never returned such a cursor'],
  ['deliveries?before=9e99', 'This list never returned such a cursor'],
  ['deliveries/a%00b', 'expected an id of 1 to 300 characters'],
  [`calls/${'x'.repeat(301)}`, 'expected an id of 1 to 300 characters'],
  ['calls/c%001', 'expected an id of 1 to 300 characters'],
  ['calls/c1?tenant=%0a', 'tenant: expected no control characters'],
  ['calls/c1?since=1', 'expected only tenant'],
  ['dead-letters/%00', 'expected an id of 1 to 300 characters'],
])('api/%s is refused, with what is wrong', async (path, problem) => {
  const response = await open().ask(`/api/${path}`);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`The request is invalid: ${problem}`);
});

it.each<[string, unknown, string]>([
  ['redrive', {}, 'expected exactly one of ids, filter and all'],
  ['redrive', { all: true, ids: ['x'] }, 'expected exactly one of ids, filter and all'],
  ['redrive', { all: 'yes' }, 'all: expected true'],
  ['redrive', { ids: [] }, 'ids: expected 1 to 500 ids'],
  ['redrive', { ids: Array.from({ length: 501 }, () => 'x') }, 'ids: expected 1 to 500 ids'],
  ['redrive', { ids: [1] }, 'ids: expected a string'],
  ['redrive', { ids: ['a\u0000b'] }, 'ids: expected no control characters'],
  ['redrive', { filter: { tenant: '\ud800' } }, 'filter: expected no control characters'],
  ['redrive', { filter: { name: 'x' } }, 'filter: expected an object of conditions'],
  ['redrive', { filter: { text: 5 } }, 'filter: expected a string'],
  ['redrive', { all: true, waitMs: 20_001 }, 'waitMs: expected a whole number from 0 to 20000'],
  ['redrive', [], 'expected a JSON object'],
  ['redrive', null, 'expected a JSON object'],
  ['redrive/stop', { a: 1 }, 'expected no parameters'],
  ['remove', {}, 'expected exactly one of ids, filter and all'],
  ['dead-letters/search', {}, 'about: expected a string'],
  ['dead-letters/search', { about: 'Ada', ids: ['x'] }, 'expected only about, event'],
])('POST api/%s refuses %j', async (path, body, problem) => {
  const { send, deadLetters } = await withLetter();
  const response = await send(`/api/${path}`, body);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`The request is invalid: ${problem}`);
  expect(await deadLetters.count()).toBe(1);
});

it('a store that refuses a condition is no store that fails, whatever the store', async () => {
  const refused = new WebhookError('invalid-options', 'tenant: expected 1 to 128 characters.');
  const { ask, deadLetters, logger } = open();
  deadLetters.count = () => Promise.reject(refused);
  const response = await ask('/api/dead-letters?tenant=acme');
  expect([response.status, await codeOf(response)]).toEqual([400, 'invalid-request']);
  expect(logger.lines).toEqual([]);
});

it('nothing that others chose hides in an answer, or looks like a line of its own', async () => {
  const { deliver, ask, get, deadLetters } = open({ receiving: { on: failing, maxAttempts: 1 } });
  await deliver(callBody('c\u202e1\n2\u200b'));
  const [letter] = (await deadLetters.list()).letters;
  const error = 'odd\u202etext\u2028Everything is fine\u{e0041}\n';
  const rawBody = new TextEncoder().encode('{"note":"a\u202eb\\n"}');
  const put = { ...(await deadLetters.get(letter!.id))!, error, rawBody, tenant: 'ac\u2066me' };
  deadLetters.list = () => Promise.resolve({ letters: [{ ...put, bytes: 9 }] });
  deadLetters.get = () => Promise.resolve(put);
  for (const path of ['dead-letters', `dead-letters/${put.id}`, 'deliveries', 'calls/c%E2%80%AE1'])
    expect([path, await (await ask(`/api/${path}`)).text()]).toEqual([
      path,
      expect.not.stringMatching(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u),
    ]);
  const page = await get<DeadLettersPage>('/api/dead-letters');
  expect(page.letters[0]?.error).toBe(
    'odd\\u202etext\\u2028Everything is fine\\udb40\\udc41\\u000a',
  );
  expect(page.tenants).toEqual(['ac\\u2066me']);
});

it('keys of a body that may be names are masked in what the health says', async () => {
  const on = { 'call:completed': () => undefined };
  const { deliver, get } = open({ receiving: { on } });
  const body = { eventName: 'call:completed', callId: 'c1', 'Zelda Quixotic': 3, ended_on: 5 };
  await deliver(JSON.stringify(body));
  const { health } = await get<Overview>('/api/overview');
  const fields = health.unknownFields?.flatMap((unknown) => unknown.fields) ?? [];
  expect(fields).toContain('ended_on');
  expect(fields.join()).not.toMatch(/Zelda|Quixotic/);
});

describe('the page', () => {
  it('has a base where its address does not end with a slash, and quotes it', async () => {
    const { console } = open({ path: "/ops/a&lt;'b" });
    const page = await console.fetch(new Request("https://ops.test/ops/a&lt;'b"));
    const [, base = ''] = /<base href="([^"]*)">/.exec(await page.text()) ?? [];
    expect(base).not.toMatch(/['<>]|&(?!#\d+;)/);
    const decoded = base.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
    expect(decoded).toBe("./a&lt;'b/");
    const { ask } = open();
    expect(await (await ask('')).text()).toContain('<head><base href="./webhooks/">');
    expect(await (await ask('/')).text()).not.toContain('<base');
  });

  it('has nothing of hostile names, which are JSON in its data', async () => {
    const script = '<img src=x onerror=alert(1)>';
    const { deliver, ask, get } = open({ receiving: { on: failing, maxAttempts: 1 } });
    await deliver(JSON.stringify({ eventName: script, callId: `</script>${script}` }));
    await deliver(callBody(script, 'call:completed', { [script]: script }));
    const { letters } = await get<DeadLettersPage>('/api/dead-letters');
    expect(letters).toHaveLength(1);
    for (const path of [
      `/api/dead-letters/${letters[0]?.id ?? ''}`,
      `/api/calls/${encodeURIComponent(script)}`,
    ]) {
      const response = await ask(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    expect(await (await ask('')).text()).not.toContain('onerror');
  });
});
