import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@call-webhooks/contract-tests';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const OURS = ['--import', 'tsx', '--conditions=@call-webhooks/source'];

const SECRETS = [
  'whsec_b25lIGtleSBmb3IgdGhlIGdyYWRlcg==',
  'whsec_WcOulym8Zkrzu3zWe4cxhJDijIpnHxAQ',
];

/** A receiver that runs as a program. */
export interface GradedProgram {
  /** Relative to the repository's root. */
  readonly folder: string;
  readonly command: (port: number) => readonly [program: string, ...args: string[]];
  /** Where it keeps its events. */
  readonly env?: (home: string) => Record<string, string>;
}

/** Our receiver on `node:http`. */
export const ourReceiver = (store: 'in a file' | 'in memory'): GradedProgram => ({
  folder: 'packages/verification/src/graded',
  command: () => [process.execPath, ...OURS, 'receiver-program.ts'],
  ...(store === 'in a file' && {
    env: (home: string) => ({ DATABASE: join(home, 'calls.db') }),
  }),
});

export const pythonReceiver: GradedProgram = {
  folder: 'packages/verification/receivers/python',
  command: () => ['python3', 'standard_library.py'],
  env: () => ({ PYTHONDONTWRITEBYTECODE: '1' }),
};

export const phpReceiver: GradedProgram = {
  folder: 'packages/verification/receivers/php',
  command: (port) => ['php', '-S', `127.0.0.1:${String(port)}`, 'receiver.php'],
  env: (home) => ({ DATABASE: join(home, 'calls.db'), PHP_CLI_SERVER_WORKERS: '12' }),
};

/** What `check --deep` found. */
export interface Grade {
  readonly exitCode: number;
  readonly passed: number;
  /** The names of checks. */
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly stderr: string;
}

/** Starts a receiver and grades it with the command line, as a user does. */
export async function grade({ folder, command, env }: GradedProgram): Promise<Grade> {
  const home = mkdtempSync(join(tmpdir(), 'graded-'));
  const port = await freePort();
  const [program, ...args] = command(port);
  const variables = {
    PORT: String(port),
    CALL_WEBHOOK_SECRET: SECRETS.join(' '),
    ...env?.(home),
  };
  const cwd = join(ROOT, folder);
  const options = { cwd, env: { ...process.env, NODE_OPTIONS: '', ...variables } };
  // In a group of its own, as PHP starts others.
  const child = spawn(program, args, { ...options, detached: true, stdio: 'ignore' });
  const origin = `http://127.0.0.1:${String(port)}`;
  const secretFile = join(home, 'secrets');
  writeFileSync(secretFile, `${SECRETS.join('\n')}\n`, { mode: 0o600 });
  try {
    while (!(await fetch(`${origin}/effects`).catch(() => undefined))?.ok) {
      if (child.exitCode !== null) throw new Error(`${program} ended.`);
      await pause(50);
    }
    return await check([
      ...['--to', `${origin}/hook`, '--effects', `${origin}/effects`, '--secret-file', secretFile],
    ]);
  } finally {
    if (child.pid !== undefined) kill(child.pid);
    rmSync(home, { recursive: true, force: true });
  }
}

/** Ends a process, and its group if it has one. */
function kill(pid: number): void {
  for (const one of [-pid, pid])
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended already.
    }
}

function check(flags: readonly string[]): Promise<Grade> {
  const args = [...OURS, 'packages/cli/src/bin.ts', 'check', '--deep', '--json', ...flags];
  const options = { cwd: ROOT, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 10_000_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const lines = stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const those = (wanted: string) =>
        lines.filter(({ result }) => result === wanted).map(({ check }) => String(check));
      resolve({
        exitCode: typeof error?.code === 'number' ? error.code : 0,
        passed: Number(lines.find(({ type }) => type === 'result')?.['passed'] ?? 0),
        failed: those('fail'),
        skipped: those('skipped'),
        stderr,
      });
    });
  });
}
