import type { Bug } from '../buggy-store.ts';
import type { EngineName } from '../engines/engine.ts';

/** What a receiver or a worker is started with: JSON in its only argument. */
export interface ReceiverInput {
  engine: EngineName;
  url: string;
  journal: string;
  seed: string;
  secret: string;
  port: number;
  queued: boolean;
  /** Its existence fixes the handlers. */
  fixedFile: string;
  /** Deliberate bug in the store. */
  bug?: Bug | undefined;
  /** Where the bug keeps its files. */
  bugFolder: string;
}

export const receiverInput = () => JSON.parse(process.argv[2] ?? '') as ReceiverInput;

// Without its parent nobody would stop this process.
process.on('disconnect', () => process.exit(1));
