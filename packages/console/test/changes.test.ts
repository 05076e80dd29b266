import { describe, expect, it } from '@jest/globals';
import type { Session } from '../src/api-types.ts';
import { attack, codeOf, withLetter } from './attacks.ts';
import { BASE, open, OWN_PAGE } from './support.ts';

describe('a change', () => {
  it.each<[string, Record<string, string | undefined>]>([
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' }],
    ['from a sibling site', { 'sec-fetch-site': 'same-site', origin: 'https://evil.ops.test' }],
    ['opened by the user', { 'sec-fetch-site': 'none' }],
    [
      'of a browser without Sec-Fetch-Site',
      { 'sec-fetch-site': undefined, origin: 'https://evil.test' },
    ],
    ['of a sandboxed page', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['without an origin', { 'sec-fetch-site': undefined, origin: undefined }],
    ['with nonsense as its origin', { 'sec-fetch-site': undefined, origin: 'ops.test' }],
  ])('is refused %s, even with the right token', async (_what, changed) => {
    const host = { host: 'ops.test' };
    const codes = await attack((own) => {
      const all = Object.entries<string | undefined>({ ...own, ...host, ...changed });
      return Object.fromEntries(
        all.filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
    });
    expect(codes).toEqual(['cross-origin']);
  });

  it('compares the origin with the Host, or with the option', async () => {
    const own = { origin: 'https://ops.test', host: 'ops.test' };
    expect((await open().send('/api/redrive/abort', {}, own)).status).toBe(200);
    const behind = open({ origin: 'https://ops.example' });
    const from = (origin: string) =>
      behind.send('/api/redrive/abort', {}, { origin, host: 'internal' });
    expect((await from('https://ops.example')).status).toBe(200);
    expect((await from('https://ops.test')).status).toBe(403);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
  ])('is refused as %s, which a form can send', async (type) => {
    expect(await attack((own) => ({ ...own, 'content-type': type }))).toEqual(['unsupported-type']);
  });

  it('is refused by a console that is read-only, and to who may only read', async () => {
    expect(await attack((own) => own, { readOnly: true })).toEqual(['read-only']);
    const authorize = () => ({ name: 'Bob', canWrite: false });
    expect(await attack((own) => own, { authorize })).toEqual(['read-only']);
    expect(
      await attack((own) => own, { authorize: (() => ({ name: 'Bob', canWrite: 0 })) as never }),
    ).toEqual(['read-only']);
  });

  it('needs POST', async () => {
    const { ask, deadLetters, id } = await withLetter();
    for (const path of [
      `/api/dead-letters/${id}/remove`,
      `/api/dead-letters/${id}/reveal`,
      '/api/redrive/abort',
    ])
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const response = await ask(path, { method, headers: OWN_PAGE });
        expect([method, response.status]).toEqual([method, 405]);
        expect(response.headers.get('allow')).toBe('POST');
      }
    expect(await deadLetters.count()).toBe(1);
  });

  it.each([
    ['no JSON', '{', 'invalid-request'],
    ['no object', '[]', 'invalid-request'],
    ['nothing', '', 'invalid-request'],
    ['too much', JSON.stringify({ ids: ['x'.repeat(200_000)] }), 'body-too-large'],
    ['nothing to redrive', '{}', 'invalid-request'],
    ['two things to redrive', '{"all":true,"ids":["x"]}', 'invalid-request'],
    ['all: false', '{"all":false}', 'invalid-request'],
    ['an unknown condition', '{"filter":{"even":"x"}}', 'invalid-request'],
    ['a condition of another type', '{"filter":{"event":{}}}', 'invalid-request'],
    ['a prototype', '{"__proto__":{"all":true}}', 'invalid-request'],
    ['ids that are none', '{"ids":[1]}', 'invalid-request'],
    ['a long wait', '{"all":true,"waitMs":1e9}', 'invalid-request'],
  ])('refuses %s as a body', async (_what, body, code) => {
    const { console, get, deadLetters } = await withLetter();
    const { csrfToken } = await get<Session>('/api/session');
    const headers = {
      ...OWN_PAGE,
      'content-type': 'application/json',
      'x-call-webhooks-csrf': csrfToken,
    };
    const response = await console.fetch(
      new Request(`${BASE}/api/redrive`, { method: 'POST', headers, body }),
    );
    expect(await codeOf(response)).toBe(code);
    expect(await deadLetters.count()).toBe(1);
  });
});
