import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from '@jest/globals';
import { build, type Format } from 'esbuild';

const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What the tests of an app do to the timers of their process. */
const MOCKS = {
  'node:test': `
    const { mock } = require('node:test');
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: Date.now() });`,
  '@sinonjs/fake-timers': `
    require('@sinonjs/fake-timers').install({ now: Date.now(), toNotFake: ['nextTick', 'queueMicrotask'] });`,
};

/** An app with a receiver, whose timers are mocked once it is loaded. */
const app = (mocks: string) => `
  const { createServer, request } = require('node:http');
  const { sign, memoryStore } = require('@call-webhooks/core');
  const { createNodeHandler } = require('@call-webhooks/core/node');
  const secret = 'whsec_${'A'.repeat(32)}';
  const on = { 'call:started': () => undefined };
  const server = createServer(createNodeHandler({ secret, on }));
  server.listen(0, '127.0.0.1', async () => {
    ${mocks}
    const body = JSON.stringify({ eventName: 'call:started', callId: 'c1' });
    const headers = { ...(await sign({ secret, body })), 'content-length': body.length };
    const { port } = server.address();
    const sent = request({ host: '127.0.0.1', port, method: 'POST', headers }, ({ statusCode }) => {
      process.stdout.write(String(statusCode), () => process.exit());
    });
    sent.end(body);
  });`;

it.each<[keyof typeof MOCKS, Format]>([
  ['node:test', 'cjs'],
  ['@sinonjs/fake-timers', 'cjs'],
])('%s: a receiver in a bundle of %s answers', async (name, format) => {
  const outfile = join(folder, `${name.replace(/\W/g, '-')}.${format}`);
  await build({
    stdin: { contents: app(MOCKS[name]), resolveDir: import.meta.dirname },
    ...{ bundle: true, platform: 'node', format, outfile, logLevel: 'error' },
    conditions: ['@call-webhooks/source'],
  });
  const { stdout } = await promisify(execFile)(process.execPath, [outfile], { timeout: 20_000 });
  expect(stdout).toBe('200');
});
