import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packages } from '../src/commands/doctor-packages.ts';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const HTML = { 'content-type': 'text/html; charset=utf-8' };
const PAGE = '<!DOCTYPE html><html><body>Sign in</body></html>';

test.each([
  ['a single-page app', { status: 200, headers: HTML, body: PAGE }, 'with a web page'],
  ['a page without a type', { status: 200, body: `\n${PAGE}` }, 'with a web page'],
  ['a sign-in wall', { status: 401, headers: HTML, body: PAGE }, 'with a web page'],
  ['the warning of a tunnel', { status: 403, headers: HTML, body: PAGE }, 'with a web page'],
  [
    'a redirect to another server',
    { status: 302, headers: { location: 'https://login.example.com/a?b=c' } },
    'redirects to https://login.example.com/a, which is another server',
  ],
  [
    'a redirect to a sign-in page',
    { status: 307, headers: { location: '/api/auth/signin' } },
    'looks like a sign-in page',
  ],
])('%s is not taken for a receiver', async (_what, response, told) => {
  const target = await receiver(() => response);
  const argv = ['--to', target.url, '--secret', SECRET];
  const checked = await run(['check', ...argv]);
  expect(checked).toMatchObject({ code: 3, stderr: expect.stringContaining(told) as unknown });
  expect(checked.stderr).not.toContain('final URL');
  const sent = await run(['send', 'call:started', ...argv]);
  expect(sent).toMatchObject({ code: 1, stderr: expect.stringContaining(told) as unknown });
  const found = (await run(['doctor', ...argv, '--json'])).records();
  expect(found).toContainEqual(
    expect.objectContaining({
      check: 'receiver',
      result: 'bad',
      text: expect.stringContaining(told) as unknown,
    }),
  );
  await target.close();
});

test.each([
  ['a receiver', { status: 200, body: '{"outcome":"ignored"}' }, 0],
  ['a receiver whose framework labels all as HTML', { status: 200, headers: HTML, body: '' }, 0],
  ['one that refuses so', { status: 401, headers: HTML, body: 'wrong signature' }, 1],
  ['the error page of a framework', { status: 404, headers: HTML, body: PAGE }, 1],
  ['a redirect to the path with a slash', { status: 308, headers: { location: '/hook/' } }, 1],
])('%s keeps its own explanation', async (_what, response, code) => {
  const target = await receiver(() => response);
  const sent = await run(['send', 'call:started', '--to', target.url, '--secret', SECRET]);
  expect(sent).toMatchObject({ code, stderr: '' });
  await target.close();
});

test('doctor finds our packages where Node finds them, also those that only others of ours see', () => {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  const install = (path: string, name: string, version: string, more: object = {}) => {
    mkdirSync(join(folder, path), { recursive: true });
    const manifest = { name: `@call-webhooks/${name}`, version, ...more };
    writeFileSync(join(folder, path, 'package.json'), JSON.stringify(manifest));
  };
  writeFileSync(join(folder, 'package.json'), '{}');
  const express = 'node_modules/@call-webhooks/express';
  const dependencies = { '@call-webhooks/core': '^0.1.0' };
  install(express, 'express', '0.1.0', { dependencies });
  install(`${express}/node_modules/@call-webhooks/core`, 'core', '0.2.0');
  const { result, text } = packages(folder);
  expect({ result, text }).toEqual({
    result: 'bad',
    text: 'The call-webhooks packages have different versions: 0.1.0 (express); 0.2.0 (core).',
  });
  rmSync(folder, { recursive: true });
});
