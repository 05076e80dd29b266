import { eventKey } from '@call-webhooks/core';
import type { Attempt, Delivery } from '@call-webhooks/simulator';
import type { JournalEntry } from './journal.ts';

/**
 * What the service saw of one delivery: a journal entry for each attempt.
 * @param offset milliseconds from the simulator's clock to the journal's
 */
export function deliveryEntries(
  { body, state, attempts }: Delivery,
  offset: number,
): JournalEntry[] {
  const key = eventKey(JSON.parse(body) as object) ?? '';
  if (attempts.length === 0) {
    // Its rule was paused, which the check has to know.
    return [{ kind: 'delivery', at: 0, until: 0, key, status: 0, outcome: state }];
  }
  return attempts.map((attempt) => ({
    kind: 'delivery',
    at: attempt.startedAt + offset,
    // The simulator rounds down to whole milliseconds; the response came before this.
    until: (attempt.endedAt ?? attempt.startedAt) + 1 + offset,
    key,
    ...responseOf(attempt),
  }));
}

/** The receiver's response, even where chaos kept it from the service. */
function responseOf({ response: seen, droppedResponse }: Attempt): {
  status: number;
  outcome: string;
} {
  const response = droppedResponse ?? seen;
  if (response === undefined) return { status: 0, outcome: 'in flight' };
  if (response.kind === 'timeout') return { status: 0, outcome: 'timeout' };
  if (response.kind === 'connection-error') return { status: 0, outcome: response.code };
  return { status: response.status, outcome: outcomeOf(response.body) };
}

function outcomeOf(body: string): string {
  try {
    return String((JSON.parse(body) as { outcome?: unknown }).outcome);
  } catch {
    return 'a truncated response';
  }
}
