import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { build } from 'esbuild';

const guide = readFileSync(new URL('../../../docs/frameworks.md', import.meta.url), 'utf8');
const [, banner = ''] = /--banner:js="(.*)"/.exec(guide) ?? [];

const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-'));
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('an ESM bundle of esbuild with the banner of the guide receives deliveries', async () => {
  const contents = `
    import { createServer } from 'node:http';
    import { createNodeHandler } from '@call-webhooks/core/node';
    const hook = createNodeHandler({ secret: 'whsec_${'A'.repeat(32)}' });
    const server = createServer((request, response) => void hook(request, response));
    server.listen(0, async () => {
      const url = 'http://127.0.0.1:' + server.address().port;
      console.log((await fetch(url, { method: 'POST', body: '{}' })).status);
      server.close();
    });`;
  const outfile = join(folder, 'app.mjs');
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    ...{ bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'error' },
    conditions: ['@call-webhooks/source'],
    banner: { js: banner },
  });
  const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
  expect(stdout).toBe('401\n');
});
