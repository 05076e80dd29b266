#!/usr/bin/env node
import { EXIT, Stopped } from './errors.ts';
import { main } from './main.ts';

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const controller = new AbortController();
const killing = new AbortController();

for (const [signal, code] of Object.entries(CODES))
  process.on(signal, () => {
    // A second signal does not wait for the cleanup.
    if (controller.signal.aborted) {
      killing.abort();
      process.exit(code);
    }
    controller.abort(new Stopped(code));
  });

// `| head` closes the pipe when it has enough, which is fine. A full disk is an error.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  const closed = code === 'EPIPE';
  if (!closed && !controller.signal.aborted)
    process.stderr.write(`error: Cannot write the output: ${message}\n`);
  // The last write may fail after everything else has ended.
  if (!closed) process.exitCode = EXIT.environment;
  controller.abort(new Stopped(closed ? EXIT.done : EXIT.environment));
});
process.stderr.on('error', () => undefined);

/** Ends the process although a server does not close a connection, but not before all is written. */
function exitSoon(): void {
  const ENOUGH_MS = 500;
  setTimeout(() => {
    if (process.stdout.writableLength + process.stderr.writableLength > 0) exitSoon();
    else process.exit();
  }, ENOUGH_MS).unref();
}

const { stdin, stdout, stderr, env } = process;
process.exitCode = await main(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  signal: controller.signal,
  killed: killing.signal,
});
exitSoon();
