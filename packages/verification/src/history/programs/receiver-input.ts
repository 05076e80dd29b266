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
  /** The effects of handlers are in the database of the store, and half of them use `completeIn`. */
  exactlyOnce: boolean;
  /** Its existence fixes the handlers. */
  fixedFile: string;
}

export const receiverInput = () => JSON.parse(process.argv[2] ?? '') as ReceiverInput;

// Without its parent nobody would stop this process.
process.on('disconnect', () => process.exit(1));
