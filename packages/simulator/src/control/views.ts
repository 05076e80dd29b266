import type { Attempt, Delivery } from '../deliveries/delivery.ts';
import type { Simulation } from '../simulation.ts';
import { without } from '../without.ts';
import type { AttemptSummary, ClockView, CountsView, DeliverySummary } from './view-types.ts';

/** The clock, as it is told over HTTP. */
export const clockView = ({ clock, inFlight }: Simulation): ClockView => ({
  mode: clock.mode,
  now: clock.now(),
  nextDueAt: clock.nextDueAt() ?? null,
  inFlight: inFlight.size,
});

/** A delivery without what is only of interest up close: bodies and headers. */
export const deliverySummary = (delivery: Delivery): DeliverySummary => ({
  ...without(delivery, 'body', 'attempts'),
  attempts: delivery.attempts.map(attemptSummary),
});

function attemptSummary({ answer, droppedAnswer, ...attempt }: Attempt): AttemptSummary {
  const seen = answer?.kind === 'status' ? { kind: answer.kind, status: answer.status } : answer;
  return {
    ...without(attempt, 'request'),
    ...(seen && { answer: seen }),
    dropped: droppedAnswer !== undefined,
  };
}

/** How many of everything there are. */
export const countsView = ({ calls, log, outbox, messages }: Simulation): CountsView => ({
  calls: calls.list().length,
  deliveries: log.counts(),
  mails: outbox.list().length,
  messages: messages.list().length,
});
