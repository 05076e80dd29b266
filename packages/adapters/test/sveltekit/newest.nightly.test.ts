import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callBody, newestNode, pack, startSender } from '@call-webhooks/contract-tests';
import { generateSecret } from '../../src/sveltekit.ts';
import { sampleOf, startApp, type RunningApp } from './built-app.ts';

const APP = fileURLToPath(new URL('newest-app', import.meta.url));
const NEWEST = [
  ...['@sveltejs/kit', '@sveltejs/adapter-node', '@sveltejs/vite-plugin-svelte', 'svelte', 'vite'],
];

describe('the newest SvelteKit, with the samples of the README', () => {
  let folder: string;
  let node: string;
  let app: RunningApp | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'call-webhooks-sveltekit-'));
    node = await newestNode();
    await cp(APP, folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    for (const file of ['src/routes/hook/+server.ts', 'src/env.ts']) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), sampleOf(file));
    }
    await mkdir(join(folder, 'src/routes/ready'));
    await writeFile(
      join(folder, 'src/routes/ready/+server.ts'),
      "import { ready } from '@call-webhooks/adapters/sveltekit';\nimport { POST } from '../hook/+server.ts';\nexport const GET = ready(POST);\n",
    );
    const packed = [await pack('core', folder), await pack('adapters', folder)];
    const { NODE_OPTIONS: _jest, ...rest } = process.env;
    const env = { ...rest, PATH: `${dirname(node)}${delimiter}${String(process.env['PATH'])}` };
    const run = (command: string, ...args: string[]) =>
      promisify(execFile)(command, args, { cwd: folder, env });
    await run(
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      ...NEWEST,
      ...packed,
    );
    // Without the secrets, as in CI.
    await run(node, 'node_modules/vite/bin/vite.js', 'build');
  }, 600_000);
  afterEach(() => app?.stop());
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const start = async (env: Record<string, string>) =>
    (app = await startApp(env, node, join(folder, 'build/index.js')));

  it('receives deliveries, also without a content type', async () => {
    const secret = generateSecret();
    const env = { CALL_WEBHOOK_SECRET: generateSecret(), RECORDING_WEBHOOK_SECRET: secret };
    const { url, output } = await start(env);
    for (const path of ['/hook', '/hook/']) {
      const sender = startSender(url + path, secret);
      expect(await sender.post(callBody(path))).toEqual({ status: 200, outcome: 'handled' });
      expect((await sender.post(callBody('c2'), { secret: generateSecret() })).status).toBe(401);
      expect((await sender.raw('', { method: 'GET' })).status).toBe(405);
    }
    const untyped = { headers: { 'content-type': undefined } };
    const reply = await startSender(`${url}/hook`, secret).post(callBody('c3'), untyped);
    expect(reply).toEqual({ status: 200, outcome: 'handled' });
    expect(output()).toContain('c3 ended at');
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });

  it('responds 503 while a secret is missing', async () => {
    const { url } = await start({ CALL_WEBHOOK_SECRET: generateSecret() });
    const reply = await startSender(`${url}/hook`, generateSecret()).post(callBody('c1'));
    expect(reply).toEqual({ status: 503, outcome: 'secret-unavailable' });
    expect((await fetch(`${url}/ready`)).status).toBe(503);
  });
});
