import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SECRETS, type GradedReceiver } from './graded-receiver.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** What `check --deep` found. */
export interface CheckResult {
  readonly exitCode: number;
  readonly points: number | undefined;
  /** `<probe>: <what was seen>`. */
  readonly failed: readonly string[];
  readonly noted: readonly string[];
  readonly skipped: readonly string[];
  readonly stderr: string;
}

interface Line {
  readonly type?: string;
  readonly probe?: string;
  readonly result?: string;
  readonly saw?: string;
  readonly points?: number;
}

/** Runs the command line as a user does. @param flags further ones */
export async function runCheck(
  { url, effectsUrl }: Pick<GradedReceiver, 'url' | 'effectsUrl'>,
  flags: readonly string[] = [],
  secrets: readonly string[] = SECRETS,
): Promise<CheckResult> {
  const folder = mkdtempSync(join(tmpdir(), 'graded-'));
  const secretFile = join(folder, 'secrets');
  writeFileSync(secretFile, `${secrets.join('\n')}\n`, { mode: 0o600 });
  const command = ['check', '--deep', '--to', url, '--effects', effectsUrl, '--json'];
  const bin = join(ROOT, 'packages/cli/src/bin.ts');
  const source = ['--import', 'tsx', '--conditions=@call-webhooks/source', bin];
  try {
    const { exitCode, stdout, stderr } = await run(process.execPath, [
      ...source,
      ...command,
      '--secret-file',
      secretFile,
      ...flags,
    ]);
    const lines = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
    const those = (wanted: string) =>
      lines
        .filter(({ result }) => result === wanted)
        .map(({ probe = '', saw = '' }) => `${probe}: ${saw}`);
    return {
      exitCode,
      points: lines.find(({ type }) => type === 'score')?.points,
      failed: those('fail'),
      noted: those('note'),
      skipped: those('skipped'),
      stderr,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const run = (program: string, args: readonly string[]) =>
  new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const done = (error: Error | null, stdout: string, stderr: string) => {
      const { code = 0 } = (error ?? {}) as { code?: number };
      resolve({ exitCode: code, stdout, stderr });
    };
    execFile(program, args, { cwd: ROOT, env, maxBuffer: 10_000_000 }, done);
  });
