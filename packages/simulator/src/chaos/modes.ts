/** What can go wrong on purpose. The README tells what each does. */
export const CHAOS_MODES = [
  'duplicate',
  'concurrentDuplicates',
  'reorder',
  'dropAnswer',
  'slowBody',
  'wrongSecret',
  'oldSecret',
  'clockSkew',
  'replay',
  'tamperedBody',
] as const;

export type ChaosMode = (typeof CHAOS_MODES)[number];

/** A probability for each mode: 0 (never, the default) to 1 (always). */
export type ChaosSettings = Readonly<Record<ChaosMode, number>>;

export const NO_CHAOS = Object.freeze(
  Object.fromEntries(CHAOS_MODES.map((mode) => [mode, 0])),
) as ChaosSettings;
