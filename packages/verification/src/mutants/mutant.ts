/** Paths relative to the repository's root. */
export const core = (file: string) => `packages/core/src/${file}`;
export const sqlite = (file: string) => `packages/sqlite/src/${file}`;
export const test = (file: string) => `packages/core/test/${file}`;
export const MODEL = 'packages/verification/test/model.test.ts';
export const QUEUE_MODEL = 'packages/verification/test/queue-model.test.ts';

/** One change to a source file. `from` occurs there exactly once. */
export interface Edit {
  /** Relative to the repository's root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A receiver with one bug that real receivers have, and the test that catches it. */
export interface Mutant {
  readonly name: string;
  /** The consequence for users. */
  readonly harm: string;
  readonly edits: readonly Edit[];
  /** The test file that has to fail, relative to the repository's root. */
  readonly killedBy: string;
}
