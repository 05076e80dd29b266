/** A field that fits a setting, and why. No reason quotes a value: values may name people. */
export interface Candidate {
  /** The field's name as the service writes it; a path with dots where it lies deeper. */
  readonly name: string;
  readonly reasons: readonly string[];
}

/** What the samples say about one setting. */
export interface Proposal<Setting extends string = string> {
  readonly setting: Setting;
  /**
   * - `found`: exactly one field fits. It is the only candidate.
   * - `not-sure`: several fields fit, or one fits only loosely. Choose among the candidates.
   * - `not-seen`: no field fits. There are no candidates.
   */
  readonly status: 'found' | 'not-sure' | 'not-seen';
  readonly candidates: readonly Candidate[];
}

/** Proposes the only candidate; with several of them, or one that is not enough, says so. */
export function propose<Setting extends string>(
  setting: Setting,
  candidates: readonly Candidate[],
  enough = true,
): Proposal<Setting> {
  if (candidates.length === 0) return { setting, status: 'not-seen', candidates };
  const found = enough && candidates.length === 1;
  return { setting, status: found ? 'found' : 'not-sure', candidates };
}
