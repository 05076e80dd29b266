/** One change of a source file, each text there exactly once. */
export interface Edit {
  /** From the repository's root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A receiver with one mistake, as real ones make them, and the test that sees it. */
export interface Mutant {
  readonly name: string;
  /** What it would cost a user. */
  readonly harm: string;
  readonly edits: readonly Edit[];
  /** The test file that has to fail, from the repository's root. */
  readonly killedBy: string;
}
