import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { stopProcess } from './stop-process.ts';

/** A private Postgres on a free port, in a folder of its own; the superuser is `postgres`. */
export interface PostgresServer {
  readonly url: string;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
  /** SIGKILL to all of its processes. */
  kill(): Promise<void>;
  /** SIGSTOP to all of its processes, and SIGCONT. Nothing is answered once `freeze()` has returned. */
  freeze(): void;
  thaw(): void;
  /** Stops it for good, and removes its data. */
  remove(): Promise<void>;
}

const DEBIAN = '/usr/lib/postgresql';
/** How long a server may take to start after it was killed; milliseconds. */
const START_WITHIN = 10_000;

/** The folder of `initdb` and `postgres`, or `undefined` where Postgres is not installed. */
export function postgresBinaries(): string | undefined {
  if (existsSync(DEBIAN)) {
    const [newest] = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    if (newest !== undefined && existsSync(join(DEBIAN, newest, 'bin/initdb')))
      return join(DEBIAN, newest, 'bin');
  }
  try {
    const folder = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
    return existsSync(join(folder, 'initdb')) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Postgres refuses to run as root: its own user, which Debian's package made, does. */
function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** How to start Postgres. */
interface PostgresOptions {
  /** Whether commits are to survive a power cut; off by default, for speed. */
  fsync?: boolean | undefined;
  /** Other settings of `postgresql.conf`, by name. */
  settings?: Readonly<Record<string, string>> | undefined;
}

export async function startPostgres({
  fsync = false,
  settings,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const binaries = postgresBinaries();
  if (binaries === undefined) throw new Error('Postgres is not installed.');
  const user = owner();
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-pg-'));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid);
  const data = join(folder, 'data');
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  const made = spawnSync(join(binaries, 'initdb'), [...init, '--no-sync', '--no-instructions'], {
    ...user,
    cwd: folder,
    encoding: 'utf8',
  });
  if (made.status !== 0)
    throw new Error(`initdb failed: ${made.error?.message ?? ''}\n${made.stdout}${made.stderr}`, {
      cause: made.error,
    });
  const port = await freePort();
  let child: ChildProcess | undefined;

  async function start(until = performance.now() + START_WITHIN): Promise<void> {
    const all = { listen_addresses: '127.0.0.1', fsync: fsync ? 'on' : 'off', ...settings };
    const set = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const started = spawn(
      join(binaries as string, 'postgres'),
      ['-D', data, '-p', String(port), '-k', folder, '-c', 'max_connections=100', ...set],
      { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    child = started;
    let log = '';
    started.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    while (!log.includes('ready to accept connections')) {
      await delay(10);
      if (started.exitCode === null || !started.stderr.closed) continue;
      // Processes of a server that was killed may still be ending.
      if (log.includes('is still in use') && performance.now() < until) return start(until);
      throw new Error(`Postgres did not start:\n${log}`);
    }
  }

  /** To the server and its processes. It is stopped before, so that no new one outlives it. */
  function signal(name: NodeJS.Signals): void {
    if (child?.pid === undefined || !isRunning(child)) return;
    stopProcess(child.pid);
    const pid = String(child.pid);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'); // Linux
    for (const one of [pid, ...children.split(' ').filter(Boolean)])
      try {
        if (name === 'SIGSTOP') stopProcess(Number(one));
        else process.kill(Number(one), name);
      } catch {
        // it ended meanwhile
      }
  }
  async function stop(how: () => void): Promise<void> {
    if (!child || !isRunning(child)) return;
    const ended = once(child, 'exit');
    how();
    await ended;
  }

  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${String(port)}/postgres`,
    start: () => start(),
    kill: () => stop(() => signal('SIGKILL')),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async remove() {
      signal('SIGCONT');
      await stop(() => child?.kill('SIGINT')); // "fast": clients are cut off
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;
