import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { PAGE_FILES } from '../../src/page-files.generated.ts';
import { testResources } from '../support/test-resources.ts';

describe('the inspector', () => {
  const open = testResources();

  test('the page and its parts are served with a policy that lets nothing else in', async () => {
    const { url } = await open.simulator();
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('cross-origin-resource-policy')).toBe('same-origin');

    const html = await page.text();
    const parts = [...html.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path!);
    expect(parts.length).toBeLessThan(6);
    for (const path of new Set(parts)) {
      const part = await fetch(url + path);
      expect([path, part.status]).toEqual([path, 200]);
      expect(path).toMatch(/-[0-9a-f]{10}\.(?:css|js|svg)$/);
      expect(part.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(part.headers.get('content-security-policy')).toBe(policy);
      expect(part.headers.get('content-type')).toMatch(
        /^(?:text\/(?:css|javascript); charset=utf-8|image\/svg\+xml)$/,
      );
    }
    for (const path of [
      '/_inspector/',
      '/_inspector/nothing.js',
      '/_inspector/../package.json',
      '/index.html',
    ])
      expect((await fetch(url + path)).status).toBe(404);
  });

  test('the page has its language, its title, its width on a phone, and a word without JavaScript', () => {
    const html = PAGE_FILES.get('index.html')!.text.replaceAll(/-[0-9a-f]{10}\./g, '.');
    expect(html.trim().split(/\n\s*/)).toEqual([
      ...['<!doctype html>', '<html lang="en">', '<head>', '<meta charset="utf-8" />'],
      '<meta name="viewport" content="width=device-width, initial-scale=1" />',
      '<meta name="color-scheme" content="light dark" />',
      '<title>Call webhooks: inspector</title>',
      '<link rel="icon" href="/_inspector/icon.svg" type="image/svg+xml" />',
      '<link rel="stylesheet" href="/_inspector/app.css" />',
      '<script type="module" src="/_inspector/app.js"></script>',
      ...['</head>', '<body>', '<div id="app"></div>'],
      '<noscript>The inspector needs JavaScript.</noscript>',
      ...['</body>', '</html>'],
    ]);
  });

  test('nothing inline, and nothing of another host', () => {
    for (const [name, { text }] of PAGE_FILES) {
      const hosts = [...text.matchAll(/https?:\/\/[^\s'"`<>)]+/g)].map(String);
      const known =
        /^http:\/\/(?:www\.w3\.org\/(?:2000\/svg|1999\/xhtml|1998\/Math\/MathML)|127\.0\.0\.1:3000\/hook,|(?:127\.0\.0\.1:)?\$\{\w+\})$/;
      expect([name, hosts.filter((host) => !known.test(host))]).toEqual([name, []]);
      expect(text).not.toMatch(/document\.write|\beval\b|new Function/);
      if (name.endsWith('.html'))
        expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
    }
  });

  test('the sources have no way to make HTML of a text', () => {
    const folders = ['../../page', '../../../ui/src'].map((path) => new URL(path, import.meta.url));
    const sources = folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.tsx?$/.test(name))
        .map((name) => readFileSync(join(fileURLToPath(folder), name), 'utf8')),
    );
    expect(sources.length).toBeGreaterThan(20);
    for (const source of sources)
      expect(source).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML/i);
  });

  async function asked() {
    const { url } = await open.simulator();
    // Not by fetch: that sets these headers by itself.
    const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const sent = request(url + path, { method, headers }, (answer) => {
          answer.destroy();
          resolve(answer);
        });
        sent.on('error', reject).end();
      });
    const status = async (...given: Parameters<typeof ask>) => (await ask(...given)).statusCode;
    return { url, ask, status };
  }

  test('a page that was rebound to loopback shows in the Host header', async () => {
    const { status } = await asked();
    for (const host of ['127.0.0.1:4010', 'localhost', '[::1]:4010', 'sim.localhost:80'])
      expect([host, await status('/_sim/state', { host })]).toEqual([host, 200]);
    for (const host of [
      'evil.example',
      'evil.example:4010',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '127.0.0.1:4010@evil.example',
      '192.168.1.5:4010',
    ])
      expect([host, await status('/_sim/state', { host })]).toEqual([host, 403]);
  });

  test('pages of other origins can neither read nor write nor frame', async () => {
    const { url, ask, status } = await asked();
    const json = { 'content-type': 'application/json' };
    for (const [headers, path, method] of [
      [{ origin: 'http://evil.example' }, '/_sim/state'],
      [{ origin: 'null' }, '/_sim/secrets'],
      [{ origin: url.replace('http', 'https') }, '/_sim/state'],
      [{ origin: `${url}1` }, '/_sim/state'],
      [{ origin: `${url}.evil.example` }, '/_sim/state'],
      [{ origin: url.slice(0, -1) }, '/_sim/state'],
      [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, '/_sim/stream'],
      [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, '/_sim/state'],
      [{ ...json, origin: 'http://localhost:9' }, '/_sim/reset', 'POST'],
      [
        { ...json, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
        '/_sim/reset',
        'POST',
      ],
    ] as [Record<string, string>, string, string?][])
      expect([headers, await status(path, headers, method)]).toEqual([headers, 403]);
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/jsonp'])
      expect(await status('/_sim/reset', { 'content-type': type }, 'POST')).toBe(415);
    const typed = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect(await status('/_sim/reset', typed, 'POST')).toBe(200);
    const own = {
      origin: url,
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
    };
    const state = await ask('/_sim/state', own);
    expect([state.statusCode, state.headers['access-control-allow-origin']]).toEqual([
      200,
      undefined,
    ]);
    const followed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await status('/', followed)).toBe(200);
  });
});
