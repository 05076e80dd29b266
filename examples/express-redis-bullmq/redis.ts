import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** Starts a private Redis server with the settings from docs/stores.md. Fails if Redis is not installed. */
export async function startRedis(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = String(await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-redis-'));
  const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  settings.push('--maxmemory-policy', 'noeviction');
  const where = ['--bind', '127.0.0.1', '--port', port, '--dir', folder];
  const server = spawn('redis-server', [...where, ...settings], { stdio: 'ignore' });
  await once(server, 'spawn'); // rejects with ENOENT if it is not installed
  const url = `redis://127.0.0.1:${port}`;

  const probe = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  probe.on('error', () => undefined); // it is not listening yet
  await probe.ping();
  probe.disconnect();
  return {
    url,
    async stop() {
      const exited = once(server, 'exit');
      if (server.kill()) await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
