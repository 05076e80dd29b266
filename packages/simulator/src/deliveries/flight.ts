import { planAttempt } from '../chaos/attempt-plan.ts';
import { attemptRequest } from './attempt-request.ts';
import type { CourierParts } from './courier-parts.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { sendAttempt, type AnsweredAttempt } from './send-attempt.ts';
import { judge, type Verdict } from './verdict.ts';

/** What a flight tells of itself, and how it is ended. */
export interface FlightControl {
  readonly stop: AbortSignal;
  /** Makes the clock wait for what happens now. */
  readonly renew: () => void;
  /** Called with every new state of an attempt. */
  readonly onAttempt: (attempt: Attempt) => void;
  readonly onVerdict: (verdict: Verdict, attempt: number) => void;
}

/**
 * Makes the next attempt of a delivery: from its plan to its verdict, and the replay that may
 * follow it. It never rejects; after `stop` nothing is reported any more.
 * @param delivery with the attempts that were made already
 */
export async function fly(
  delivery: Delivery,
  parts: CourierParts,
  { stop, renew, onAttempt, onVerdict }: FlightControl,
): Promise<void> {
  const { policy, chaos, draws, rules, clock } = parts;
  const { acknowledgeWithin, maxAttempts } = policy;
  const number = delivery.attempts.filter(({ kind }) => kind === 'scheduled').length + 1;
  const last = number >= maxAttempts;
  const plan = planAttempt(draws, chaos.get(), { id: delivery._id, attempt: number, last });
  const { url } = rules.action(delivery.ruleId, delivery.actionId);
  const startedAt = clock.now();
  const signed = await attemptRequest(delivery, url, number, plan, parts);
  const attempt: Attempt = { number, kind: 'scheduled', startedAt, ...signed };
  const send = (what: Attempt, slowBodyMs: number) =>
    sendAttempt(what, slowBodyMs, { clock, send: parts.send, acknowledgeWithin, stop, renew });

  const over = () => stop.aborted;

  if (over()) return;
  onAttempt(attempt);
  const answered = await send(attempt, plan.modes.has('slowBody') ? policy.slowBodyMs : 0);
  if (over()) return;
  const seen = plan.modes.has('dropAnswer') ? withAnswerDropped(answered) : answered;
  const verdict = judge(seen.answer, number, maxAttempts);
  onAttempt({ ...seen, verdict });
  onVerdict(verdict, number);

  if (!plan.modes.has('replay')) return;
  const replay = await send({ ...attempt, kind: 'replay', chaos: ['replay'] }, 0);
  if (!over()) onAttempt(replay);
}

/** The receiver has done its work, and the service never hears of it. */
function withAnswerDropped(attempt: AnsweredAttempt): AnsweredAttempt {
  if (attempt.answer.kind !== 'status') return attempt;
  const answer = { kind: 'connection-error', code: 'ECONNRESET' } as const;
  return { ...attempt, answer, droppedAnswer: attempt.answer };
}
