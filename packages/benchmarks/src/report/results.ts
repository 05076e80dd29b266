import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Memory } from '../parts.ts';
import type { Parts } from './figures.ts';

/** What a run measured: every round of every part. */
export interface Results {
  readonly machine: { cpu: string | undefined; cores: number; node: string };
  readonly parts: Parts;
  /** By contender: a size, or a size over the version before. */
  readonly memory: Readonly<Record<string, Memory>>;
}

/** A run on this machine; parts that it left out are taken from an earlier file, if there is one. */
export function withEarlier(
  file: string,
  parts: Parts,
  memory: Readonly<Record<string, Memory>>,
): Results {
  const earlier = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>)
    : {};
  return {
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
    parts: { ...earlier.parts, ...parts },
    memory: { ...earlier.memory, ...memory },
  };
}

export function writeResults(file: string, results: Results): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
