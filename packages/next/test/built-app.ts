import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const EXAMPLE = join(ROOT, 'examples/next');
/** Next's own command. */
export const NEXT = join(EXAMPLE, 'node_modules/next/dist/bin/next');

/**
 * Installs what examples/next names in its lock file, unless it is there, and builds the packages that the
 * apps import. This package gets the same Next, since the workspace itself has none.
 */
export function installNext(): void {
  const installed = join(EXAMPLE, 'node_modules/.package-lock.json');
  const isNewer = () => changedAt(installed) > changedAt(join(EXAMPLE, 'package-lock.json'));
  if (!existsSync(installed) || !isNewer()) run('npm', ['ci'], EXAMPLE);
  for (const name of ['next', 'react', 'react-dom', '@types/react']) {
    const link = join(ROOT, 'packages/next/node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), join(EXAMPLE, 'node_modules', name)), link);
  }
  const projects = ['next', 'postgres', 'recovery', 'simulator', 'sqlite', 'testing'].map(
    (name) => `packages/${name}/tsconfig.json`,
  );
  run('node_modules/.bin/tsc', ['-b', ...projects], ROOT);
  run('npm', ['run', 'bundle', '--silent', '-w', '@call-webhooks/core'], ROOT);
}

/** How long an app may take to start, or to print what it has done; milliseconds. */
const PRINT_WITHIN = 60_000;

const changedAt = (file: string) => statSync(file).mtimeMs;

function run(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): void {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}

/** `next build`. @throws with its output if it fails */
export function buildApp(folder: string, env: NodeJS.ProcessEnv, next = NEXT): void {
  run(process.execPath, [next, 'build'], folder, { ...env, ...QUIET, NODE_ENV: 'production' });
}

/** In CI, Next installs nothing by itself. */
const QUIET = { CI: '1', NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1' };

/** A built app in its own process. */
export interface RunningApp {
  readonly url: string;
  /** Its output so far. */
  output(): string;
  /** Resolves once it has printed this, which may be after the response. */
  printed(pattern: RegExp): Promise<void>;
  /** Sends SIGTERM. @returns the exit code, or the signal that ended it */
  stop(): Promise<number | string | null>;
}

/** `next start` on a free port. */
export async function startApp(
  folder: string,
  env: NodeJS.ProcessEnv,
  next = NEXT,
): Promise<RunningApp> {
  const child = spawn(process.execPath, [next, 'start'], {
    cwd: folder,
    env: { ...process.env, ...env, ...QUIET, NODE_ENV: 'production', PORT: '0' },
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const printed = async (pattern: RegExp) => {
    const deadline = performance.now() + PRINT_WITHIN;
    while (!pattern.test(output)) {
      if (child.exitCode !== null || performance.now() > deadline)
        throw new Error(`It did not print ${String(pattern)}:\n${output}`);
      await delay(50);
    }
  };
  const stop = async () => {
    child.kill('SIGTERM');
    const [code, signal] = await exited;
    return code ?? signal;
  };
  try {
    await printed(/Local: +http:\/\/\S+[^]*Ready in/);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = /Local: +(http:\/\/\S+)/.exec(output)?.[1] ?? '';
  return { url, output: () => output, printed, stop };
}
