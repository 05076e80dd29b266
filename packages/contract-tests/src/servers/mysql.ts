import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findProgram } from '../find-program.ts';
import { freePort } from './free-port.ts';
import { stopProcess } from './stop-process.ts';

/** A private MariaDB on a free port, in a folder of its own; `root` has no password. */
export interface MysqlServer {
  /** Of the database `calls`. */
  readonly url: string;
  /** Starts it again, on the same port and data. @param changed other settings than before */
  start(changed?: Settings): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP, and SIGCONT. Nothing is answered once `freeze()` has returned. */
  freeze(): void;
  thaw(): void;
  /** Stops it for good, and removes its data. */
  remove(): Promise<void>;
}

/** By name. */
type Settings = Readonly<Record<string, string>>;

/** How to start MariaDB. */
interface MysqlOptions {
  /** Whether commits are to survive a power cut; off by default, for speed. They survive a kill. */
  fsync?: boolean | undefined;
  /** Other settings, by name. */
  settings?: Settings | undefined;
}

/** How long a server may take to start after it was killed; milliseconds. */
const START_WITHIN = 20_000;

const DEBIAN = ['/usr/sbin/mariadbd'];

/** `mariadbd`, or `undefined` where MariaDB is not installed. Debian keeps it where administrators look. */
export const mariadbProgram = (): string | undefined =>
  findProgram('mariadbd') ?? DEBIAN.find((path) => existsSync(path));

/** MariaDB refuses to run as root: its own user, which Debian's package made, does. */
function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'mysql'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export async function startMysql({
  fsync = false,
  settings,
}: MysqlOptions = {}): Promise<MysqlServer> {
  const program = mariadbProgram();
  if (program === undefined) throw new Error('MariaDB is not installed.');
  const user = owner();
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-mysql-'));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid);
  const data = join(folder, 'data');
  const own = { ...user, cwd: folder, env: { ...process.env, PATH: withSbin() } };
  const small = ['--innodb-log-file-size=8M', `--datadir=${data}`, `--tmpdir=${folder}`];
  const made = spawnSync(
    'mariadb-install-db',
    ['--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db', ...small],
    { ...own, encoding: 'utf8' },
  );
  if (made.status !== 0)
    throw new Error(`mariadb-install-db failed:\n${made.stdout}${made.stderr}`, {
      cause: made.error,
    });
  const port = await freePort();
  const socket = join(folder, 'socket');
  let child: ChildProcess | undefined;

  async function start(changed?: Settings): Promise<void> {
    const until = performance.now() + START_WITHIN;
    const all = {
      port: String(port),
      socket,
      'pid-file': join(folder, 'pid'),
      'bind-address': '127.0.0.1',
      'max-connections': '300',
      'innodb-flush-log-at-trx-commit': fsync ? '1' : '2',
      ...settings,
      ...changed,
    };
    const set = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    const started = spawn(program as string, ['--no-defaults', ...small, ...set], {
      ...own,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    let log = '';
    started.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    while (!log.includes('ready for connections')) {
      if (!isRunning(started) || performance.now() > until)
        throw new Error(`MariaDB did not start:\n${log}`);
      await delay(10);
    }
  }
  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (!child || !isRunning(child)) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  await start();
  execFileSync('mariadb', [
    '--no-defaults',
    `--socket=${socket}`,
    '-uroot',
    '-e',
    'CREATE DATABASE calls',
  ]);
  return {
    url: `mysql://root@127.0.0.1:${String(port)}/calls`,
    start,
    kill: () => stop('SIGKILL'),
    freeze() {
      if (child?.pid !== undefined && isRunning(child)) stopProcess(child.pid);
    },
    thaw: () => void child?.kill('SIGCONT'),
    async remove() {
      await stop('SIGKILL'); // nobody needs its data any more
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const withSbin = () => [process.env['PATH'], '/usr/sbin'].join(delimiter);

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;
