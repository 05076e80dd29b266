import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SECRET } from './receiver.ts';

const BIN = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const FLAGS = ['--import', 'tsx', '--conditions=@call-webhooks/source'];

/** The program in its own process: signals, closed pipes and real streams. */
export const program = (argv: readonly string[], env: Record<string, string> = {}) =>
  spawn(process.execPath, [...FLAGS, BIN, ...argv], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], NODE_ENV: 'test', CALL_WEBHOOK_SECRET: SECRET, ...env },
  });
