/** Why a change is no defect, by its file and the code before and after it. */
export type Reasons = Readonly<Record<string, Readonly<Record<string, string>>>>;

// Reasons that many changes have.
export const FASTER = 'only faster';
export const AT_IMPORT =
  'it runs at import, and Stryker tries only the test that imports it again: the others notice it';
export const IN_EDGE_TEST = 'edge.test.ts notices it, which Stryker does not run';
export const MADE_BEFORE =
  'the contract tests make the store before the first test, and Stryker does not count that';
export const MADE_ONCE =
  'schemas are made once, and Stryker tries only the test that makes them: the others notice it';
