import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@call-webhooks/store-tests/internal';
import { freePort } from './free-port.ts';
import { stopProcess } from './stop-process.ts';

/** A Redis server of a test's own: on the loopback, in a folder of its own, gone after `stop()`. */
export interface RedisServer {
  readonly port: number;
  /** Starts it, or starts it again: on the same port, from the same folder. */
  start(): Promise<void>;
  /** SIGKILL: as a crash. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open, but once it has returned, the server does not answer. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Kills it and removes its folder. */
  stop(): Promise<void>;
}

/**
 * Makes a server on a free port; `start()` is yours.
 * @param options.durable keeps what was written over a kill (AOF, synced with each write)
 * @param options.cluster makes it a node of a cluster, with these slots: all of them, or the first and
 *   the last of a node that does not know the others yet
 */
export async function redisServer({
  durable = false,
  cluster = false,
}: { durable?: boolean; cluster?: boolean | [number, number] } = {}): Promise<RedisServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  if (durable) args.push('--appendonly', 'yes', '--appendfsync', 'always');
  if (cluster) {
    args.push('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()));
    args.push('--cluster-announce-ip', '127.0.0.1');
  }
  let child: ChildProcess | undefined;

  const server: RedisServer = {
    port,
    async start() {
      const started = spawn('redis-server', args, { stdio: 'ignore' });
      child = started;
      await waitFor(async () => (await answers(port)) || started.exitCode !== null, {
        what: `redis-server answers on port ${String(port)}`,
      });
      if (started.exitCode !== null)
        throw new Error(`redis-server ended with exit code ${String(started.exitCode)}.`);
      const [first, last] = cluster === true ? [0, 16_383] : cluster || [];
      if (first !== undefined) await command(port, `CLUSTER ADDSLOTSRANGE ${first} ${last}`, '');
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    freeze() {
      if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null)
        stopProcess(child.pid);
    },
    thaw: () => void child?.kill('SIGCONT'),
    async stop() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return server;
}

/** Whether it says PONG: while it loads its data it listens already, and refuses. */
const answers = (port: number) => command(port, 'PING', '+PONG');

/** Sends one command; whether the answer begins with this. */
function command(port: number, line: string, expected: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`));
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.on('error', () => end(false));
    socket.on('data', (data) => end(String(data).startsWith(expected)));
  });
}
