#!/usr/bin/env node
import { EXIT, Stopped } from './exit.ts';
import { main } from './main.ts';

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const controller = new AbortController();

for (const [signal, code] of Object.entries(CODES))
  process.on(signal, () => {
    // Who asks twice does not want to wait for the tidying up.
    if (controller.signal.aborted) process.exit(code);
    controller.abort(new Stopped(code));
  });

// `| head` closes the pipe when it has enough: that is no error. A full disk is one.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  const enough = code === 'EPIPE';
  if (!enough && !controller.signal.aborted)
    process.stderr.write(`error: The output can't be written: ${message}\n`);
  // The last write may fail when everything else is over already.
  if (!enough) process.exitCode = EXIT.environment;
  controller.abort(new Stopped(enough ? EXIT.done : EXIT.environment));
});
process.stderr.on('error', () => undefined);

const { stdin, stdout, stderr, env } = process;
process.exitCode = await main(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  signal: controller.signal,
});
