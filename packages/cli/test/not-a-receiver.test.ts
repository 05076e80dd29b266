import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packages } from '../src/commands/doctor-packages.ts';
import { closeRawServers, rawServer } from './support/raw-server.ts';
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

const OK = 'HTTP/1.1 200 OK\r\n';

test.each<[what: string, response: string, code: number, told: RegExp]>([
  ['whole', `${OK}Content-Length: 2\r\n\r\n{}`, 0, /^200 {2}\d+ ms {2}acknowledged\n\{\}\n$/],
  ['without a body', `${OK}Content-Length: 0\r\n\r\n`, 0, /^200 {2}\d+ ms {2}acknowledged\n$/],
  ['after an early hint', `HTTP/1.1 103 Early Hints\r\n\r\n${OK}\r\n{}`, 0, /^200 .*\n\{\}\n$/],
  // The service ignores bodies.
  ['whose body breaks off', `${OK}Content-Length: 9\r\n\r\n{}`, 0, /^200 .*acknowledged\n\{\}\n$/],
  [
    'whose chunks break off',
    `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n9`,
    0,
    /^200 .*\n\{\}\n$/,
  ],
  ['whose body never begins', `${OK}Content-Length: 9\r\n\r\n`, 0, /^200 .*acknowledged\n$/],
  ['that is none', '', 1, /^ECONNRESET {2}\d+ ms {2}the service would retry in about 5 minutes\n$/],
])('a response %s is taken as the service takes it', async (_what, response, code, told) => {
  const { href } = await rawServer((socket) => {
    socket.once('data', () => socket.end(response));
  });
  const sent = await run(['send', 'call:started', '--to', href, '--secret', SECRET]);
  expect([sent.code, sent.stdout]).toEqual([code, expect.stringMatching(told)]);
  await closeRawServers();
});

test('doctor finds our packages where Node finds them, also those that only others of ours see', () => {
  const root = mkdtempSync(join(tmpdir(), 'doctor-'));
  const folder = join(root, 'express');
  const install = (path: string, name: string, version: string, more: object = {}) => {
    mkdirSync(join(folder, path), { recursive: true });
    const manifest = { name: `@call-webhooks/${name}`, version, ...more };
    writeFileSync(join(folder, path, 'package.json'), JSON.stringify(manifest));
  };
  mkdirSync(folder);
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
  // What is not published has no say, and a peer is found like a dependency.
  const all = (app: string) => packages(join(root, app)).text;
  const installIn = (app: string, name: string, version: string, more?: object) => {
    install(`../${app}/node_modules/@call-webhooks/${name}`, name, version, more);
    writeFileSync(join(root, app, 'package.json'), '{}');
  };
  installIn('same', 'express', '0.1.0', { dependencies });
  installIn('same', 'core', '0.1.0');
  installIn('same', 'console', '0.3.0', { private: true });
  expect(all('same')).toBe('All call-webhooks packages have version 0.1.0.');
  installIn('peer', 'nest', '0.1.0', { peerDependencies: { '@call-webhooks/other': '*', x: '*' } });
  installIn('peer', 'other', '0.2.0');
  expect(all('peer')).toBe(
    'The call-webhooks packages have different versions: 0.1.0 (nest); 0.2.0 (other).',
  );
  rmSync(root, { recursive: true });
});
