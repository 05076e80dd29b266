import type { Draws } from '../seed/draws.ts';
import type { ChaosMode, ChaosSettings } from './modes.ts';

/** Seconds. Farther from the receiver's clock than the spec's tolerance of five minutes. */
const SKEW: readonly [number, number] = [360, 900];

/** What chaos does to one attempt. */
export interface AttemptPlan {
  /** The modes that strike, in the order of their list. */
  readonly modes: ReadonlySet<ChaosMode>;
  /** Seconds that the timestamp is off; 0 without `clockSkew`. */
  readonly skewSeconds: number;
}

const OF_AN_ATTEMPT: readonly ChaosMode[] = [
  'dropAnswer',
  'slowBody',
  'wrongSecret',
  'oldSecret',
  'clockSkew',
  'replay',
  'tamperedBody',
];
const HARMLESS: readonly ChaosMode[] = ['slowBody', 'replay'];

/**
 * Pure: the same draws, settings, id and attempt give the same plan.
 * @param last the last attempt is left in peace: only the receiver decides whether a rule is paused
 */
export function planAttempt(
  draws: Draws,
  chaos: ChaosSettings,
  { id, attempt, last }: { id: string; attempt: number; last: boolean },
): AttemptPlan {
  const modes = new Set(
    OF_AN_ATTEMPT.filter(
      (mode) => (!last || HARMLESS.includes(mode)) && draws.chance(chaos[mode], mode, id, attempt),
    ),
  );
  const ahead = draws.chance(0.5, 'skew-ahead', id, attempt);
  const skew = draws.whole(...SKEW, 'skew', id, attempt) * (ahead ? 1 : -1);
  return { modes, skewSeconds: modes.has('clockSkew') ? skew : 0 };
}
