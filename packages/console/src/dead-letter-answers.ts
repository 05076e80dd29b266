import type { StoredDeadLetter } from '@call-webhooks/core';
import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import { withRedactedIds } from '@call-webhooks/core/internal';
import { maskedBody } from '@call-webhooks/recovery';
import { withoutPrefix } from '@call-webhooks/recovery/internal';
import type { DeadLetterBody, DeadLetterDetail, DeadLetterRow, DeliveryRow } from './api-types.ts';

const MAX_ERROR = 2_000;
/** The longest text that is sent; characters. */
const MAX_TEXT = 256 * 1024;

/** An error as an answer has it. */
export const shownError = (error: string): string => error.slice(0, MAX_ERROR);

/** A letter without its body. Ids are as in log lines. */
export function rowOf(letter: ListedDeadLetter): DeadLetterRow {
  const { id, reason, tenant, webhookId, eventName, callId, key, claimedUntil } =
    withRedactedIds(letter);
  return {
    id,
    reason,
    ...(tenant !== undefined && { tenant }),
    webhookId,
    ...(eventName !== undefined && { eventName }),
    ...(callId !== undefined && { callId }),
    ...(key !== undefined && { key }),
    attempt: letter.attempt,
    signedAt: letter.timestamp.getTime(),
    deadLetterSince: (letter.history[0]?.at ?? letter.failedAt).getTime(),
    failedAt: letter.failedAt.getTime(),
    source: letter.source,
    error: shownError(letter.error),
    attempts: Math.max(letter.attempt, earlierAttempts(letter) + letter.history.length),
    ...(claimedUntil && { claimedUntil: claimedUntil.getTime() }),
  };
}

/** The first failure of the history was the last of so many attempts; each later one is one more. */
const earlierAttempts = ({ attempt, history: [first] }: ListedDeadLetter): number =>
  Math.max(0, (first?.attempt ?? attempt) - 1);

export function detailOf(letter: StoredDeadLetter, isWhole: boolean): DeadLetterDetail {
  const { rawBody, history } = letter;
  const text = isWhole ? new TextDecoder().decode(rawBody) : maskedBody(rawBody);
  return {
    ...rowOf(letter),
    ...(letter.stack !== undefined && { stack: letter.stack }),
    history: history.map(({ at, source, attempt, error }) => ({
      at: at.getTime(),
      source,
      attempt,
      error: shownError(error),
    })),
    earlierAttempts: earlierAttempts(letter),
    body: { masked: !isWhole, ...shown(text), bytes: rawBody.length },
  };
}

/**
 * With the attempts of before it was a dead letter, as far as the log has them.
 * @param failures of its event, oldest first
 */
export function withAttempts(
  letter: DeadLetterDetail,
  failures: readonly DeliveryRow[],
): DeadLetterDetail {
  const [first] = letter.history;
  const earlier = failures.flatMap(({ at, source, attempt, error = '' }) =>
    attempt !== undefined && first && attempt < first.attempt && at <= first.at
      ? [{ at, source, attempt, error: withoutPrefix(error) }]
      : [],
  );
  return {
    ...letter,
    history: [...earlier, ...letter.history],
    earlierAttempts: Math.max(0, letter.earlierAttempts - earlier.length),
  };
}

function shown(text: string | undefined): Pick<DeadLetterBody, 'text' | 'truncated'> {
  if (text === undefined) return { text: null, truncated: false };
  return { text: text.slice(0, MAX_TEXT), truncated: text.length > MAX_TEXT };
}
