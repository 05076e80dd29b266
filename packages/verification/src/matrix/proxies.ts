import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A proxy with its configuration from the docs. */
export interface ProxyProgram {
  readonly name: string;
  /** In `docs/proxies`. */
  readonly config: string;
  arguments(config: string, home: string): string[];
}

export const PROXIES: readonly ProxyProgram[] = [
  {
    name: 'nginx',
    config: 'nginx.conf',
    arguments: (config, home) => [
      '-c',
      config,
      '-p',
      home,
      '-e',
      'stderr',
      '-g',
      `daemon off; pid ${home}/pid;`,
    ],
  },
  {
    name: 'caddy',
    config: 'Caddyfile',
    arguments: (config) => ['run', '--config', config, '--adapter', 'caddyfile'],
  },
];

/** Starts a proxy as documented, but on a free port and with the given upstream. */
export async function startProxy(program: ProxyProgram, upstreamPort: number) {
  const home = mkdtempSync(join(tmpdir(), `${program.name}-`));
  const port = await freePort();
  const documented = fileURLToPath(
    new URL(`../../../../docs/proxies/${program.config}`, import.meta.url),
  );
  const config = join(home, program.config);
  const text = readFileSync(documented, 'utf8')
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${String(port)}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${String(upstreamPort)}`);
  writeFileSync(config, text);
  const child = spawn(program.name, program.arguments(config, home), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
  });
  await waitUntilListening(child, port);
  return {
    port,
    async close() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function waitUntilListening(child: ChildProcess, port: number): Promise<void> {
  let output = '';
  child.stderr?.on('data', (data: Buffer) => (output += data.toString()));
  for (let tries = 0; tries < 200; tries++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} exited: ${output}`);
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await pause(50);
  }
  throw new Error(`${child.spawnfile} does not listen: ${output}`);
}
