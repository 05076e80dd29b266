import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import {
  callBody,
  describeWithProgram,
  freePort,
  serveLocally,
  startSender,
  waitFor,
  collectingLogger,
} from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';

const secret = generateSecret();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Starts a proxy as docs/proxies configures it, on a free port and before this upstream. */
async function behind(proxy: string, config: string, upstream: RequestListener) {
  const { origin, close } = await serveLocally(upstream);
  closers.push(close);
  const home = mkdtempSync(join(tmpdir(), `${proxy}-`));
  const address = `127.0.0.1:${String(await freePort())}`;
  const file = join(home, config);
  const documented = readFileSync(
    new URL(`../../../docs/proxies/${config}`, import.meta.url),
    'utf8',
  );
  writeFileSync(
    file,
    documented
      .replaceAll('127.0.0.1:8080', address)
      .replaceAll('127.0.0.1:3000', new URL(origin).host),
  );
  const args = {
    nginx: ['-c', file, '-p', home, '-e', 'stderr', '-g', `daemon off; pid ${home}/pid;`],
    caddy: ['run', '--config', file, '--adapter', 'caddyfile'],
  }[proxy];
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  const child = spawn(proxy, args ?? [], { stdio: 'ignore', env });
  closers.push(async () => {
    const exited = once(child, 'exit');
    if (child.exitCode === null && child.kill()) await exited;
    rmSync(home, { recursive: true, force: true });
  });
  const answers = () => fetch(`http://${address}/`).then(Boolean, () => false);
  await waitFor(async () => child.exitCode !== null || (await answers()));
  expect(child.exitCode).toBeNull();
  const at = (path: string) => startSender(`http://${address}${path}`, secret);
  const status = async (path: string) => (await at(path).post(callBody('c1'))).status;
  return { at, status, stopUpstream: close };
}

describeWithProgram('nginx', 'nginx, configured as in docs/proxies', () => {
  tests('nginx', 'nginx.conf');
});
describeWithProgram('caddy', 'Caddy, configured as in docs/proxies', () => {
  tests('caddy', 'Caddyfile');
});

function tests(proxy: string, config: string): void {
  test('forwards deliveries byte for byte', async () => {
    const handler = createNodeHandler({
      ...{ secret, logger: collectingLogger() },
      on: { 'call:completed': () => undefined },
    });
    const { at } = await behind(proxy, config, (request, response) => {
      void handler(request, response);
    });
    const body = callBody('c1', 'call:completed', { name: 'Zoë 📞' });
    expect(await at('/hook').post(body)).toEqual({ status: 200, outcome: 'handled' });
    expect((await at('/hook').raw('{}')).status).toBe(401);
  });

  test('sends nothing that pauses a rule, whatever the path and the upstream', async () => {
    let upstreamStatus = 200;
    const { status, stopUpstream } = await behind(proxy, config, (request, response) => {
      request.resume();
      response.writeHead(upstreamStatus, { location: '/elsewhere' }).end('no');
    });
    for (upstreamStatus of [404, 410, 301, 302, 307, 308])
      expect({ upstreamStatus, got: await status('/hook') }).toEqual({ upstreamStatus, got: 503 });
    for (const path of ['/', '/hoook', '//hoook', '/hook%', '/x/hook'])
      expect([400, 503]).toContain(await status(path));
    await stopUpstream();
    closers.shift();
    expect([502, 503]).toContain(await status('/hook'));
  });
}
