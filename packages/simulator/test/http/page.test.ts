import { expect, test } from '@jest/globals';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

test('a page is served at the root, its files below /_inspector/, with a strict policy', async () => {
  const files = new Map([
    ['index.html', { type: 'text/html; charset=utf-8', text: '<h1>A page</h1>' }],
    ['style/all.css', { type: 'text/css; charset=utf-8', text: 'h1 { color: red }' }],
  ]);
  const { url } = await open.simulator({ inspector: { files } });
  for (const [path, type, text] of [
    ['/', 'text/html; charset=utf-8', '<h1>A page</h1>'],
    ['/_inspector/style/all.css', 'text/css; charset=utf-8', 'h1 { color: red }'],
  ] as const) {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await response.text()).toBe(text);
  }
  expect((await fetch(`${url}/_inspector/other.css`)).status).toBe(404);
});

test('without a page, the root says how to get one', async () => {
  const { url } = await open.simulator();
  for (const path of ['/', '/_inspector/main.js']) {
    const response = await fetch(url + path);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('@call-webhooks/inspector');
  }
});
