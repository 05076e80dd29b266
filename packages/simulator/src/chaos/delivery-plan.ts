import type { Draws } from '../seed/draws.ts';
import type { ChaosSettings } from './modes.ts';

/** Milliseconds of the clock. */
const DUPLICATE_AFTER: readonly [number, number] = [500, 10_000];
const HELD_BACK: readonly [number, number] = [1_000, 60_000];
const MOST_CONCURRENT = 3;

/** What chaos does to a new delivery, before anything is sent. */
export interface DeliveryPlan {
  /** Milliseconds that it is held back, so that later ones overtake it. */
  readonly holdBackMs: number;
  /** The copies that are sent besides, and how long after the delivery itself; milliseconds. */
  readonly copies: readonly { by: 'duplicate' | 'concurrentDuplicates'; afterMs: number }[];
}

/** Pure: the same draws, settings and id give the same plan. */
export function planDelivery(draws: Draws, chaos: ChaosSettings, id: string): DeliveryPlan {
  const strikes = (mode: keyof ChaosSettings) => draws.chance(chaos[mode], mode, id);
  const copies: DeliveryPlan['copies'][number][] = [];
  if (strikes('duplicate'))
    copies.push({
      by: 'duplicate',
      afterMs: draws.whole(...DUPLICATE_AFTER, 'duplicate-after', id),
    });
  if (strikes('concurrentDuplicates')) {
    const count = draws.whole(1, MOST_CONCURRENT, 'concurrent-count', id);
    for (let copy = 0; copy < count; copy++)
      copies.push({ by: 'concurrentDuplicates', afterMs: 0 });
  }
  const holdBackMs = strikes('reorder') ? draws.whole(...HELD_BACK, 'held-back', id) : 0;
  return { holdBackMs, copies };
}
