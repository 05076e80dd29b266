import type { Command } from 'commander';
import { badInput } from '../cli-error.ts';
import { isLoopback } from '../input/target-url.ts';
import type { Io } from '../io.ts';

/** Where `simulate` listens unless it is told otherwise, and so where the others look for it. */
export const DEFAULT_PORT = 4777;
export const SIMULATOR_VARIABLE = 'CALL_WEBHOOKS_SIMULATOR';

/** Adds `--simulator`. */
export const withSimulatorOption = (command: Command): Command =>
  command.option(
    '--simulator <url>',
    `the running simulator (default: $${SIMULATOR_VARIABLE}, or port ${String(DEFAULT_PORT)} here)`,
  );

/** @throws CliError 2 for what is no URL of this machine */
export function simulatorUrl({ env }: Io, given: string | undefined): string {
  const url = given ?? (env[SIMULATOR_VARIABLE] || `http://127.0.0.1:${String(DEFAULT_PORT)}`);
  const whole = /^\d+$/.test(url) ? `http://127.0.0.1:${url}` : url;
  const parsed = URL.canParse(whole) ? new URL(whole) : undefined;
  if (parsed?.protocol !== 'http:' || !isLoopback(parsed.hostname))
    throw badInput(
      `${url} can't be a simulator: it listens on this machine only.`,
      'Like this: --simulator http://127.0.0.1:4777, or just --simulator 4777',
    );
  return parsed.origin;
}
