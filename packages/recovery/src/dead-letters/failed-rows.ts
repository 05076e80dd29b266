import type { OutcomeRow } from '@call-webhooks/core/stores';
import { causeOf } from './causes.ts';

/** The log has it before the error, and a dead letter has it as its reason. */
const SAYS_SO = /^The handler failed: /;

/** The error of a row of the outcome log, as a dead letter has it. */
export const withoutPrefix = (error: string): string => error.replace(SAYS_SO, '');

/** What a failed delivery has in common with others: the cause of its error, or its outcome if it has none. */
export const causeOfRow = (row: OutcomeRow): string =>
  row.error === undefined
    ? row.outcome
    : causeOf({ ...row, error: withoutPrefix(row.error) }) || row.outcome;
