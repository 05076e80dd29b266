import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pack } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { buildApp, startApp } from './built-app.ts';

const run = promisify(execFile);
const APP = fileURLToPath(new URL('ready-app', import.meta.url));

// Each build is made without the secret: what was prerendered then would stay "not ready" for good.
describe.each([
  { version: '15', caching: [false] },
  { version: 'latest', caching: [false, true] },
])('Next $version', ({ version, caching }) => {
  let folder: string;
  let next: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'call-webhooks-next-'));
    await cp(APP, folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    const packed = [await pack('core', folder), await pack('next', folder)];
    const install = ['install', '--no-audit', '--no-fund', `next@${version}`, 'react', 'react-dom'];
    await run('npm', [...install, 'typescript@5', '@types/react', '@types/node', ...packed], {
      cwd: folder,
    });
    next = join(folder, 'node_modules/next/dist/bin/next');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(caching)(
    'GET = ready(POST) is asked at each request; cacheComponents: %p',
    async (on) => {
      const env = { CACHE_COMPONENTS: on ? '1' : '0' };
      const none = { CALL_WEBHOOK_SECRET: undefined };
      buildApp(folder, { ...env, ...none }, next);
      for (const [more, expected] of [
        [{ CALL_WEBHOOK_SECRET: generateSecret() }, { status: 200, ok: true }],
        [none, { status: 503, ok: false }],
      ] as const) {
        const app = await startApp(folder, { ...env, ...more }, next);
        const response = await fetch(`${app.url}/ready`);
        const { ok } = (await response.json()) as { ok: boolean };
        const cached = response.headers.get('x-nextjs-cache');
        await app.stop();
        expect({ status: response.status, ok, cached }).toEqual({ ...expected, cached: null });
      }
    },
  );
});
