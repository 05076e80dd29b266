import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerContext, DeadLetter } from '@call-webhooks/core';
import { monotonicMs } from './clock.ts';
import { draw } from './draw.ts';
import type { Journal } from './journal.ts';

/** Handlers whose effects are lines of the journal. The seed decides which are slow, and which fail. */
export function journalHandlers(seed: string, journal: Journal) {
  const { pid } = process;

  async function handle(_event: unknown, { key = '', attempt }: HandlerContext): Promise<void> {
    const line = { pid, key, attempt };
    journal.write({ kind: 'begin', at: monotonicMs(), ...line });
    await delay(durationOf(seed, key));
    // Signals are not heeded: the worst of handlers has to be safe, too.
    if (isPoison(seed, key) || draw(seed, 'fails', key, attempt) < 0.15) {
      journal.write({ kind: 'failed', at: monotonicMs(), ...line });
      throw new Error('the CRM is down');
    }
    journal.writeDurably({ kind: 'effect', at: monotonicMs(), ...line });
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

const isPoison = (seed: string, key: string) => draw(seed, 'poison', key) < 0.03;

/**
 * Milliseconds: half of the events are quick, some slow, some take longer than a lease. Each attempt
 * takes the same time, so that a run that lost its lease ends while its successor runs.
 */
function durationOf(seed: string, key: string): number {
  const kind = draw(seed, 'kind', key);
  const length = draw(seed, 'length', key);
  if (kind < 0.5) return length * 30;
  return kind < 0.85 ? 100 + length * 700 : 1_500 + length * 700;
}
