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
  /** What an event takes in memory or on disk, by contender of `events`. */
  readonly bytesPerEvent: Readonly<Record<string, number>>;
}

/** A run on this machine; parts that it left out are taken from an earlier file, if there is one. */
export function withEarlier(file: string, measured: Omit<Results, 'machine'>): Results {
  const earlier = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>)
    : {};
  return {
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
    parts: { ...earlier.parts, ...measured.parts },
    memory: { ...earlier.memory, ...measured.memory },
    bytesPerEvent: { ...earlier.bytesPerEvent, ...measured.bytesPerEvent },
  };
}

export function writeResults(file: string, results: Results): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
