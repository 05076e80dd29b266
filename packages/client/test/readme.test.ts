import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import ts from 'typescript';
import * as main from '../src/index.ts';
import { defaultWireNames } from '../src/wire.ts';
import { TOKEN } from './support/client.ts';
import { sendJson, startServer, type TestServer } from './support/server.ts';

let server: TestServer;
let folder: string;
let readme: string;

beforeEach(async () => {
  readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'readme-'));
  server = await startServer(({ url }, response) => {
    if (url.includes('/recording')) return void response.end('sound');
    const event = { action: 'opened', recipientEmail: 'ann@example.com', device: { os: 'Linux' } };
    sendJson(response, { results: [event], hasNext: false });
  });
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

test('the sample has ten to fifteen lines, and runs', async () => {
  const sample = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? '';
  const lines = sample.split('\n').filter((line) => line !== '');
  expect(lines.length).toBeGreaterThanOrEqual(10);
  expect(lines.length).toBeLessThanOrEqual(15);
  const body = ts
    .transpile(sample, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext })
    .replace(/import (\{.*\}) from '@call-webhooks\/client';/, 'const $1 = main;')
    .replace("'call.audio'", 'file');
  const printed: unknown[][] = [];
  const names = ['main', 'process', 'console', 'file'];
  const code = `return (async () => {${body}})()`;
  const run = compileFunction(code, names) as unknown as (...values: unknown[]) => Promise<void>;
  const env = { SERVICE_URL: server.origin, API_TOKEN: TOKEN };
  const log = (...values: unknown[]): void => void printed.push(values);
  await run(main, { env }, { log }, join(folder, 'call.audio'));
  expect(printed).toEqual([['ann@example.com', 'Linux']]);
  expect(await readFile(join(folder, 'call.audio'), 'utf8')).toBe('sound');
  expect(server.requests.map(({ url }) => decodeURIComponent(url))).toEqual([
    '/v1/events?search=to:example.com+since:2026-01-31+type:opened',
    '/v1/calls/call-id/recording',
  ]);
});

test('names every error class and every unconfirmed name', () => {
  for (const name of Object.keys(main).filter((key) => /.Error$/.test(key))) {
    expect(readme).toContain(`\`${name}\``);
  }
  for (const name of Object.keys(defaultWireNames)) expect(readme).toContain(`\`${name}\``);
});
