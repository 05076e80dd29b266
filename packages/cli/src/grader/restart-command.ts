import { spawn, type ChildProcess } from 'node:child_process';
import { environmentError } from '../errors.ts';

const RUN_IT = 'Run it by hand to see what it prints.';

/**
 * Runs the user's command that restarts the receiver, in a shell. Its output is not shown: the receiver
 * may inherit it.
 * @param withinMs how long it may take; milliseconds
 * @throws CliError 3 when it fails, or does not end; the signal's reason
 */
export function runRestartCommand(
  command: string,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  const tooLong = AbortSignal.timeout(withinMs);
  const { promise, resolve, reject } = promiseWithResolvers();
  // A group of its own, so that all of it can be stopped.
  const child = spawn(command, {
    ...{ shell: true, stdio: 'ignore', detached: process.platform !== 'win32' },
    windowsHide: true,
  });
  const stop = () => {
    stopAll(child);
    reject(
      signal.aborted
        ? (signal.reason as Error)
        : environmentError(
            `The restart command did not end within ${String(withinMs)} ms.`,
            'Let it start the receiver in the background, or raise --restart-within.',
          ),
    );
  };
  const either = AbortSignal.any([signal, tooLong]);
  if (either.aborted) stop();
  else either.addEventListener('abort', stop, { once: true });
  child.once('error', ({ message }) => {
    reject(environmentError(`The restart command could not be run: ${message}`, RUN_IT));
  });
  child.once('exit', (code, killedBy) => {
    either.removeEventListener('abort', stop);
    if (code === 0) resolve();
    else
      reject(
        environmentError(
          `The restart command failed (${killedBy ?? `exit code ${String(code)}`}).`,
          RUN_IT,
        ),
      );
  });
  return promise;
}

/** Stops the shell and what it started. */
function stopAll({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  if (process.platform === 'win32') spawn('taskkill', ['/pid', String(pid), '/T', '/F']);
  else process.kill(-pid, 'SIGTERM');
}

function promiseWithResolvers() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((one, other) => {
    resolve = one;
    reject = other;
  });
  return { promise, resolve, reject };
}
