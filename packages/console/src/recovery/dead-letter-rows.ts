import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import { redactId } from '@call-webhooks/core/internal';
import type { DeadLetterBody, DeadLetterDetail, DeadLetterRow } from '../api-types.ts';

const MAX_ERROR = 2_000;

/** A letter without its body. Ids are as in log lines. */
export function letterRow(letter: ListedDeadLetter): DeadLetterRow {
  const { id, reason, tenant, webhookId, eventName, callId, key, claimedUntil } = letter;
  return {
    id,
    reason,
    ...(tenant !== undefined && { tenant }),
    webhookId: redactId(webhookId),
    ...(eventName !== undefined && { eventName: redactId(eventName) }),
    ...(callId !== undefined && { callId: redactId(callId) }),
    ...(key !== undefined && { key: redactId(key) }),
    attempt: letter.attempt,
    signedAt: letter.timestamp.getTime(),
    failedAt: letter.failedAt.getTime(),
    source: letter.source,
    error: letter.error.slice(0, MAX_ERROR),
    attempts: attemptsOf(letter),
    ...(claimedUntil && { claimedUntil: claimedUntil.getTime() }),
  };
}

/** The first failure of the history counts the attempts before it; each later one is one more. */
const attemptsOf = ({ attempt, history: [first, ...later] }: ListedDeadLetter): number =>
  (first?.attempt ?? attempt) + later.length;

export const letterDetail = (letter: ListedDeadLetter, body: DeadLetterBody): DeadLetterDetail => ({
  ...letterRow(letter),
  history: letter.history.map(({ at, source, attempt, error }) => ({
    at: at.getTime(),
    source,
    attempt,
    error: error.slice(0, MAX_ERROR),
  })),
  body,
});
