import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerContext, DeadLetter } from '@call-webhooks/core';
import { haveEffect, type EffectTable } from './effects.ts';
import { monotonicMs, type Journal } from './journal.ts';
import { seededRandom } from './seeded-random.ts';

/**
 * Handlers whose effects are journal entries, or rows in the database of the store. The seed decides
 * which are slow and which fail.
 * @param fixedFile once this file exists, the bug is fixed that makes some events fail at every attempt
 */
export function journaledHandlers(
  seed: string,
  journal: Journal,
  fixedFile: string,
  effects?: EffectTable,
) {
  const { pid } = process;

  async function handle(_event: unknown, context: HandlerContext): Promise<void> {
    const { key = '', attempt } = context;
    const run = { pid, key, attempt };
    journal.write({ kind: 'begin', at: monotonicMs(), ...run });
    await delay(durationOf(seed, key));
    // Ignores the abort signal on purpose: even such a handler has to be safe.
    const isPoison = seededRandom(seed, 'poison', key) < 0.03 && !existsSync(fixedFile);
    if (isPoison || seededRandom(seed, 'fails', key, attempt) < 0.15) {
      journal.write({ kind: 'failed', at: monotonicMs(), ...run });
      throw new Error('the CRM is down');
    }
    const at = monotonicMs();
    if (!effects) {
      journal.writeDurably({ kind: 'effect', at, ...run });
      return;
    }
    try {
      await haveEffect(effects, seed, { at, ...run }, context);
    } finally {
      // Unless the database has an effect of this run.
      journal.write({ kind: 'failed', at: monotonicMs(), ...run });
    }
  }

  return {
    on: {
      'call:started': handle,
      'call:completed': handle,
      'call:recording-available': handle,
    },
    deadLetter({ key = '', attempt }: DeadLetter) {
      journal.writeDurably({ kind: 'dead', at: monotonicMs(), pid, key, attempt });
    },
    logger: { warn: () => undefined, error: () => undefined },
  };
}

/**
 * Milliseconds: half of the events are quick, some are slow, some take longer than a lease. Each
 * attempt takes equally long, so that a run that lost its lease ends while its successor runs.
 */
function durationOf(seed: string, key: string): number {
  const kind = seededRandom(seed, 'kind', key);
  const length = seededRandom(seed, 'length', key);
  if (kind < 0.5) return length * 30;
  return kind < 0.85 ? 100 + length * 700 : 1_500 + length * 700;
}
