import type { Bug } from '../buggy-store.ts';
import type { Engine, EngineName } from '../engines/engine.ts';
import type { EffectsInDatabase } from '../handlers.ts';

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
  /** Deliberate bug in the store. */
  bug?: Bug | undefined;
  /** Where the bug keeps its files. */
  bugFolder: string;
}

/** The effects of this process's handlers, if they are in the database. */
export async function effectsOf(
  { exactlyOnce, url, bug }: ReceiverInput,
  engine: Engine,
): Promise<EffectsInDatabase | undefined> {
  if (!exactlyOnce || !engine.effects) return undefined;
  return { table: await engine.effects(url), outside: bug === 'outside-transaction' };
}

export const receiverInput = () => JSON.parse(process.argv[2] ?? '') as ReceiverInput;

// Without its parent nobody would stop this process.
process.on('disconnect', () => process.exit(1));
