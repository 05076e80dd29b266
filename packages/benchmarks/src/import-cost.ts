import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { packageUrl } from './checkout.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Start } from './rounds.ts';

const PROGRAM = `
const before = process.cpuUsage();
await import(process.argv[1]);
const { user, system } = process.cpuUsage(before);
console.log(user + system);`;

/** Imports a module in a new process for each turn. */
const imports =
  (url: (root: string) => string): Start =>
  (root) => ({
    async turn() {
      const args = [...process.execArgv, '--input-type=module', '-e', PROGRAM, url(root)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      return { 'CPU ms': Number(stdout) / 1_000 };
    },
  });

export async function measure(options: BenchOptions): Promise<Result> {
  const compare = [['core', 'zod']] as const;
  const contenders = {
    zod: imports(() => import.meta.resolve('zod')),
    core: imports((root) => packageUrl(root, 'core')),
  };
  const isOurs = (name: string) => name === 'core';
  const rounds = await runRounds({ contenders, compare, isOurs, warmUps: 1 }, options);
  return { title: 'one import', rounds, compare };
}
