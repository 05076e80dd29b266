import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a process ended. */
export interface Ended {
  /** The exit code; `null` if a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What it wrote to stdout and stderr. */
  output: string;
  /** How long it was alive after it wrote that; milliseconds. */
  silentMs: number;
}

/** A program in a process of its own. */
export interface OwnProcess {
  readonly child: ChildProcess;
  /** Resolves once it has printed this. */
  printed(text: string): Promise<void>;
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<Ended>;
}

/** Longer than any program of a test takes; milliseconds. */
const AT_MOST_MS = 60_000;

/** Longer than the end of a process takes on a busy machine, and shorter than a timer that could hold it. */
const SILENT_MS = 3_000;

/**
 * Runs a program as `startProgram` does, which has to end by itself, with 0, soon after it printed something.
 * @returns what it printed
 * @throws Error with that, and how the program ended
 */
export async function endsByItself(folder: string, program: string): Promise<string> {
  const { code, signal, output, silentMs } = await startProgram(folder, program).ended;
  if (code === 0 && silentMs < SILENT_MS) return output;
  throw new Error(
    `It ended with ${String(signal ?? code)}, ${String(silentMs)} ms after it had printed:\n${output}`,
  );
}

/**
 * Runs a program of a test with the sources of our packages, as an ES module in a folder of the caller:
 * imports are resolved from there. A program that is still alive after a minute is killed.
 * @param folder where a temporary file may be written
 */
export function startProgram(folder: string, code: string): OwnProcess {
  const own = mkdtempSync(join(folder, '.program-'));
  const file = join(own, 'program.ts');
  writeFileSync(file, code);
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=@call-webhooks/source', file],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  const late = setTimeout(() => child.kill('SIGKILL'), AT_MOST_MS);
  let output = '';
  let wroteAt = performance.now();
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      wroteAt = performance.now();
      child.emit('output');
    });
  const ended = once(child, 'close').then(([exit, signal]) => {
    clearTimeout(late);
    rmSync(own, { recursive: true, force: true });
    child.emit('output');
    return {
      ...{ code: exit as number | null, signal: signal as NodeJS.Signals | null, output },
      silentMs: Math.round(performance.now() - wroteAt),
    };
  });
  return {
    child,
    ended,
    async printed(text) {
      while (!output.includes(text)) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`It ended without printing ${text}:\n${output}`);
        await once(child, 'output');
      }
    },
  };
}
