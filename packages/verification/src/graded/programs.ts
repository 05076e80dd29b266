import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@call-webhooks/contract-tests';
import { SECRETS, type GradedReceiver } from './graded-receiver.ts';

const FOLDER = fileURLToPath(new URL('../../receivers', import.meta.url));

/** A receiver in another language. */
export interface ReceiverProgram {
  readonly name: string;
  /** The program that has to be installed, and the Debian package that has it. */
  readonly program: string;
  readonly installedBy: string;
  readonly folder: string;
  readonly command: (port: number) => readonly string[];
}

/** Programs of small packages. */
export const OTHER_LANGUAGES: readonly ReceiverProgram[] = [
  {
    name: 'Python',
    program: 'python3',
    installedBy: 'python3',
    folder: 'python',
    command: () => ['standard_library.py'],
  },
  {
    name: 'Flask',
    program: 'flask',
    installedBy: 'python3-flask',
    folder: 'python',
    command: (port) => ['--app', 'flask_app', 'run', '--port', String(port)],
  },
  {
    name: 'Ruby',
    program: 'ruby',
    installedBy: 'ruby',
    folder: 'ruby',
    command: () => ['receiver.rb'],
  },
  {
    name: 'PHP',
    program: 'php',
    installedBy: 'php-cli php-sqlite3',
    folder: 'php',
    command: (port) => ['-S', `127.0.0.1:${String(port)}`, 'receiver.php'],
  },
];

/** Only with `GRADE_GO=1` (`npm run graded`), as its package is large. */
export const GO: ReceiverProgram = {
  name: 'Go',
  program: 'go',
  installedBy: 'golang-go',
  folder: 'go',
  command: () => ['run', '.'],
};

/** Starts a program, and resolves when it answers. @throws Error with its output if it ends before */
export async function startProgram(
  { folder, command, name }: ReceiverProgram,
  path: string,
): Promise<GradedReceiver> {
  const home = mkdtempSync(join(tmpdir(), 'receiver-'));
  const port = await freePort();
  const child = spawn(path, command(port), {
    cwd: join(FOLDER, folder),
    // A group of its own, as some programs start others.
    detached: true,
    env: {
      ...process.env,
      CALL_WEBHOOK_SECRET: SECRETS.join(' '),
      DATABASE: join(home, 'calls.db'),
      PORT: String(port),
      PHP_CLI_SERVER_WORKERS: '12',
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output += data.toString()));
  const close = async () => {
    if (child.exitCode === null && child.pid !== undefined) {
      const exited = once(child, 'exit');
      process.kill(-child.pid, 'SIGKILL');
      await exited;
    }
    rmSync(home, { recursive: true, force: true });
  };
  const origin = `http://127.0.0.1:${String(port)}`;
  while (!(await responds(`${origin}/effects`))) {
    if (child.exitCode !== null) {
      await close();
      throw new Error(`${name} ended:\n${output}`);
    }
    await pause(50);
  }
  return { url: `${origin}/hook`, effectsUrl: `${origin}/effects`, close };
}

const responds = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
