import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerContext } from '@call-webhooks/core';
import { seededRandom } from './seeded-random.ts';

/** One row of the table of effects: a run of a handler. */
export interface Effect {
  key: string;
  attempt: number;
  pid: number;
  /** When it was written, before its commit: milliseconds of the journal's clock. */
  at: number;
}

/** A table of effects in the database of the store. Nothing in it keeps an effect from being there twice. */
export interface EffectTable {
  /** Writes an effect in a transaction. `before` runs in it, just before the commit. */
  transact(effect: Effect, before: (tx: unknown) => Promise<void>): Promise<void>;
  read(): Promise<Effect[]>;
}

/**
 * How the effect of an event and its mark are made: half of the events use `completeIn`, and the others
 * are marked after the effect, as by any handler without it.
 */
export const usesCompleteIn = (seed: string, key: string): boolean =>
  seededRandom(seed, 'completeIn', key) < 0.5;

/** What goes wrong around the commit of a run, in some of them. */
type Trouble =
  'none' | 'rolled back' | 'rolled back, which the handler ignores' | 'failed afterwards';

function troubleOf(seed: string, key: string, attempt: number): Trouble {
  const kind = seededRandom(seed, 'trouble', key, attempt);
  if (kind < 0.05) return 'rolled back';
  if (kind < 0.1) return 'rolled back, which the handler ignores';
  return kind < 0.15 ? 'failed afterwards' : 'none';
}

/** Has the effect of an event. */
export async function haveEffect(
  table: EffectTable,
  seed: string,
  effect: Effect,
  { completeIn }: HandlerContext,
): Promise<void> {
  const { key, attempt } = effect;
  if (!usesCompleteIn(seed, key)) {
    await table.transact(effect, () => Promise.resolve());
    return;
  }
  const trouble = troubleOf(seed, key, attempt);
  let isCalled = false;
  const transaction = table.transact(effect, async (tx) => {
    isCalled = true;
    await completeIn(tx);
    // Long enough to be killed in, or frozen.
    await delay(seededRandom(seed, 'commit', key, attempt) * 15);
    if (trouble.startsWith('rolled back')) throw new Error(trouble);
  });
  await transaction.catch((error: unknown) => {
    // A handler that ignores that it never came to its `completeIn` has said that it succeeded.
    if (!trouble.endsWith('ignores') || !isCalled) throw error;
  });
  if (trouble === 'failed afterwards') throw new Error(trouble);
}
