import { eventKey } from '@call-webhooks/core';
import type { Answer, Attempt, Delivery } from '@call-webhooks/simulator';
import type { Line } from '../line.ts';

/**
 * What the service saw of one delivery: a line for each attempt.
 * @param offset milliseconds from the simulator's clock to the journal's
 */
export function deliveryLines({ body, state, attempts }: Delivery, offset: number): Line[] {
  const key = eventKey(JSON.parse(body) as object) ?? '';
  if (attempts.length === 0) {
    // Its rule was paused: the check has to hear of it.
    return [{ kind: 'delivery', at: 0, until: 0, key, status: 0, outcome: state }];
  }
  return attempts.map((attempt) => ({
    kind: 'delivery',
    at: attempt.startedAt + offset,
    // Whole milliseconds, rounded down: it was answered before this.
    until: (attempt.endedAt ?? attempt.startedAt) + 1 + offset,
    key,
    ...seen(attempt),
  }));
}

/** The answer that the receiver gave, even where chaos kept it from the service. */
function seen({ answer, droppedAnswer }: Attempt): { status: number; outcome: string } {
  const given: Answer | undefined = droppedAnswer ?? answer;
  if (given === undefined) return { status: 0, outcome: 'in flight' };
  if (given.kind === 'timeout') return { status: 0, outcome: 'too late' };
  if (given.kind === 'connection-error') return { status: 0, outcome: given.code };
  return { status: given.status, outcome: outcomeOf(given.body) };
}

function outcomeOf(body: string): string {
  try {
    return String((JSON.parse(body) as { outcome?: unknown }).outcome);
  } catch {
    return 'an answer that was cut off';
  }
}
