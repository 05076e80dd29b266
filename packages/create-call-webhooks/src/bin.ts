#!/usr/bin/env node
import { main } from './main.ts';

const controller = new AbortController();
// A package manager that is running gets the signal as well, since it is in the same process group.
process.on('SIGINT', () => {
  controller.abort();
});

const { stdin, stdout, stderr, env } = process;
process.exitCode = await main(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  cwd: process.cwd(),
  signal: controller.signal,
});
