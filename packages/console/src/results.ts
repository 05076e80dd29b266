import { type OutcomeCode, OUTCOMES, type OutcomeInfo } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';

export const RESULTS: readonly Result[] = [
  ...(['handled', 'duplicate', 'ignored', 'dead-letter', 'in-dead-letters'] as const),
  ...(['failed', 'rejected'] as const),
];

export const OUTCOME_CODES = Object.keys(OUTCOMES) as OutcomeCode[];

const SETTLED: Partial<Record<OutcomeCode, Result>> = {
  handled: 'handled',
  queued: 'handled',
  duplicate: 'duplicate',
  ignored: 'ignored',
  'dead-lettered': 'dead-letter',
  'in-dead-letters': 'in-dead-letters',
  'invalid-payload': 'failed',
};

/** What an outcome is in a word. What has a 4xx is rejected: nobody knows who sent it, or it is a replay. */
export function resultOf(code: OutcomeCode): Result {
  // Another process may have a newer version.
  const { status = 500 } = (OUTCOMES as Partial<typeof OUTCOMES>)[code] ?? {};
  return SETTLED[code] ?? (status >= 400 && status < 500 ? 'rejected' : 'failed');
}

/** What is said here in other words: the error itself stands beside it. */
const WORDS: Partial<Record<OutcomeCode, { when?: string; fix?: string }>> = {
  'handler-failed': {
    when: 'Your handler threw an error.',
    fix: 'Fix the cause of the error. Set deadLetter, so that one bad event cannot pause the rule.',
  },
};
const WITH_DEAD_LETTERS: typeof WORDS = {
  'handler-failed': { when: 'Your handler threw an error.', fix: 'Fix the cause of the error.' },
  'invalid-payload': { fix: 'Fix the schema or the custom payload.' },
};

/** The outcome table, by code. */
export type OutcomeTable = Record<OutcomeCode, OutcomeInfo & { result: Result; docs: string }>;

/** The outcome table as it holds here: who has dead letters needs no advice to set them. */
export const outcomeTable = (hasDeadLetters: boolean): OutcomeTable =>
  Object.fromEntries(
    OUTCOME_CODES.map((code) => {
      const words = (hasDeadLetters && WITH_DEAD_LETTERS[code]) || WORDS[code];
      const docs = docsUrl(`outcomes.md#${code}`);
      return [code, { ...OUTCOMES[code], ...words, result: resultOf(code), docs }];
    }),
  ) as OutcomeTable;

/** What a delivery came to, in a word. */
export type Result =
  | 'handled'
  | 'duplicate'
  | 'ignored'
  /** It became a dead letter. */
  | 'dead-letter'
  /** It was one before, and did not run. */
  | 'in-dead-letters'
  | 'failed'
  | 'rejected';
