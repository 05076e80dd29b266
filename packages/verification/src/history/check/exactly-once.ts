import { usesCompleteIn, type Effect } from '../effects.ts';
import type { RunEntry } from '../journal.ts';
import { groupByKey } from './group-by-key.ts';

/**
 * An event whose handler uses `completeIn` has its effect once at most, whatever happened. How often the
 * others have theirs is counted, for comparison.
 * @param effects all that were committed
 */
export function checkExactlyOnce(effects: readonly Effect[], seed: string) {
  const violations: string[] = [];
  const once = { effects: 0, duplicates: 0 };
  const others = { effects: 0, duplicates: 0 };
  for (const [key, ofEvent] of groupByKey(effects)) {
    const kind = usesCompleteIn(seed, key) ? once : others;
    kind.effects += ofEvent.length;
    kind.duplicates += ofEvent.length - 1;
    const attempts = ofEvent.map(({ attempt }) => attempt).join(', ');
    if (kind === once && ofEvent.length > 1)
      violations.push(`${key}: its effect was committed in attempts ${attempts}`);
  }
  return {
    violations,
    counts: {
      'effects with completeIn': once.effects,
      '  duplicates of these': once.duplicates,
      'effects that are marked afterwards': others.effects,
      '  duplicates of those': others.duplicates,
    },
  };
}

/** An effect in the database, as an entry of the journal. */
export const effectEntry = (effect: Effect): RunEntry => ({ kind: 'effect', ...effect });
