import { describe, expect, it, jest } from '@jest/globals';
import type { DeadLettersPage } from '../src/api-types.ts';
import { codeOf, failing, GETS, withLetter } from './attacks.ts';
import { callBody, open } from './support.ts';

describe('every answer', () => {
  it('has headers that keep it out of frames, caches, scripts and other sites', async () => {
    const { ask } = await withLetter();
    for (const path of [...GETS, '/unknown']) {
      const { headers, status } = await ask(path);
      expect(status).not.toBe(404);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      for (const part of [
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "form-action 'none'",
      ])
        expect(headers.get('content-security-policy')).toContain(part);
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|https?:|\*/);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(headers.has('access-control-allow-origin')).toBe(false);
    }
  });

  it('is no data for a page of another site', async () => {
    const { ask } = open();
    for (const site of ['cross-site', 'same-site']) {
      const response = await ask('/api/overview', { headers: { 'sec-fetch-site': site } });
      expect([response.status, await codeOf(response)]).toEqual([403, 'cross-origin']);
    }
    expect((await ask('/api/overview', { headers: { 'sec-fetch-site': 'none' } })).status).toBe(
      200,
    );
  });

  it('is never 404, 410 or 3xx, whatever the path', async () => {
    const { ask } = open();
    const tricks = [
      ...['/x', '/api', '/api/', '/api/x', '/api//overview', '//api/overview', '/api/overview//'],
      ...[
        '/assets',
        '/assets/',
        '/assets/../index.html',
        '/assets/%2e%2e/index.html',
        '/index.html',
      ],
      ...[
        '/assets/..%2f..%2fpackage.json',
        '/..%2f..%2fetc/passwd',
        '/%5c..%5c',
        '/api%2foverview',
      ],
      ...[
        '/api/overview%00',
        '/api/calls/',
        '/api/dead-letters//reveal',
        '/__proto__',
        '/constructor',
      ],
      ...['/assets/__proto__', '/assets/constructor', '/API/overview', '/api/overview;x=1'],
    ];
    for (const path of tricks) {
      const response = await ask(path);
      expect([path, response.status]).toEqual([path, 400]);
      const text = await response.text();
      expect(text).toContain('"unknown-path"');
    }
    for (const path of ['/api/calls/%', '/api/calls/%E0%A4%A', '/api/dead-letters/%zz'])
      expect(await codeOf(await ask(path))).toBe('invalid-request');
    expect((await ask('/api/overview/')).status).toBe(200);
    expect((await ask('/../../elsewhere')).status).toBe(400);
  });

  it('quotes nothing of a request', async () => {
    const { ask } = open();
    const script = '<script>alert(1)</script>';
    for (const path of [
      `/${script}`,
      `/api/deliveries?outcome=${script}`,
      `/api/deliveries?${script}=1`,
      `/api/dead-letters/${script}`,
      `/api/dead-letters?cursor=${script}`,
    ]) {
      const response = await ask(path, {
        headers: { 'x-forwarded-host': 'evil.test', referer: 'https://evil.test/' },
      });
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

describe('the page', () => {
  it('has a base where its address does not end with a slash, and quotes it', async () => {
    const { console } = open({ path: '/ops/<b>"&' });
    const text = async (url: string) => (await console.fetch(new Request(url))).text();
    expect(await text('https://ops.test/ops/%3Cb%3E%22&')).not.toContain('<b>');
    const { ask } = open();
    expect(await (await ask('')).text()).toContain('<head><base href="./webhooks/">');
    expect(await (await ask('/')).text()).not.toContain('<base');
  });
});

it('shows hostile names as JSON, and nothing of them in the page', async () => {
  const script = '<img src=x onerror=alert(1)>';
  const { deliver, ask, get } = open({ receiving: { on: failing, maxAttempts: 1 } });
  await deliver(JSON.stringify({ eventName: script, callId: `</script>${script}`, note: script }));
  await deliver(callBody(script, 'call:completed', { [script]: script }), { 'user-agent': script });
  const { letters } = await get<DeadLettersPage>('/api/dead-letters');
  expect(letters).toHaveLength(1);
  for (const path of [
    '/api/deliveries',
    '/api/dead-letters',
    `/api/dead-letters/${letters[0]?.id ?? ''}`,
    `/api/calls/${encodeURIComponent(script)}`,
  ]) {
    const response = await ask(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  }
  expect(await (await ask('')).text()).not.toContain('onerror');
});
