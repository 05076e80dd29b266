import type { EngineName } from '../engines/engine.ts';
import type { Planted } from '../planted.ts';

/** What a receiver or a worker is told at its start, as JSON in its only argument. */
export interface ProgramInput {
  engine: EngineName;
  url: string;
  journal: string;
  seed: string;
  secret: string;
  port: number;
  queued: boolean;
  /** A mistake in the store, and a folder for what it needs. */
  planted?: Planted | undefined;
  folder: string;
}

export const programInput = () => JSON.parse(process.argv[2] ?? '') as ProgramInput;

/** Whoever started us is gone: nobody would stop us. */
process.on('disconnect', () => process.exit(1));
