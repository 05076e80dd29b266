import type { TurnableClock } from '../clock/clock.ts';
import type { Answer } from './answer.ts';
import type { Attempt } from './delivery.ts';
import type { Send } from './sender.ts';

interface Parts {
  readonly clock: TurnableClock;
  readonly send: Send;
  /** Milliseconds of the simulator's clock. */
  readonly acknowledgeWithin: number;
  /** Ends the attempt, whatever the clock says. */
  readonly stop: AbortSignal;
  /** Makes the clock wait for what happens now. */
  readonly renew: () => void;
}

/** An attempt with its answer. */
export type AnsweredAttempt = Attempt & { readonly answer: Answer };

/**
 * Sends one request and waits for its answer, for as long as the spec gives a receiver: 30 seconds,
 * of the simulator's clock.
 */
export async function sendAttempt(
  attempt: Attempt,
  slowBodyMs: number,
  { clock, send, acknowledgeWithin, stop, renew }: Parts,
): Promise<AnsweredAttempt> {
  const late = new AbortController();
  const timer = clock.at(clock.now() + acknowledgeWithin, () => {
    renew();
    late.abort();
  });
  renew();
  const sentAt = performance.now();
  const { url, headers, body } = attempt.request;
  const answer = await send(
    { url, headers, body: Buffer.from(body), slowBodyMs },
    AbortSignal.any([late.signal, stop]),
  );
  timer.cancel();
  return {
    ...attempt,
    // A status line that came in time counts, even if the time was over before the body was.
    answer: late.signal.aborted && answer.kind !== 'status' ? { kind: 'timeout' } : answer,
    endedAt: clock.now(),
    tookMs: Math.round((performance.now() - sentAt) * 10) / 10,
  };
}
