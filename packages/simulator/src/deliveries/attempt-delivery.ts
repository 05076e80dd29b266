import { setMaxListeners } from 'node:events';
import type { Chaos } from '../chaos/chaos.ts';
import { planAttempt } from '../chaos/chaos-plan.ts';
import type { SimulatorClock } from '../clock/clock.ts';
import type { Rules } from '../rules/rules.ts';
import { attemptResult } from './attempt-result.ts';
import type { Attempt, AttemptResponse, AttemptResult, Delivery } from './delivery.ts';
import type { Send } from './http-sender.ts';
import { signAttempt, type SigningDeps } from './sign-attempt.ts';

/** What an attempt needs. */
export interface AttemptDeps extends SigningDeps {
  readonly clock: SimulatorClock;
  readonly chaos: Chaos;
  readonly rules: Rules;
  readonly send: Send;
  /** Durations are milliseconds of the simulator's clock. */
  readonly policy: {
    /** Includes the first attempt. */
    readonly maxAttempts: number;
    readonly acknowledgeWithin: number;
    /** Real milliseconds. */
    readonly slowBodyMs: number;
  };
}

/** Ends all attempts. Each one in flight listens to it, and Node would take that for a leak. */
export function createStop(): AbortController {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
}

/** How the scheduler follows an attempt, and how it ends one. */
export interface AttemptHooks {
  /** Ends the attempt. Nothing is reported after it. */
  readonly stop: AbortSignal;
  /** Makes the clock wait for this attempt again. */
  readonly renew: () => void;
  /** Called whenever the attempt changes. */
  readonly onAttempt: (attempt: Attempt) => void;
  readonly onResult: (result: AttemptResult, attempt: number) => void;
}

/** The reason of an abort at the end of the acknowledgement time. */
const LATE = Symbol('late');

type AnsweredAttempt = Attempt & { readonly response: AttemptResponse };

/**
 * Makes the next attempt of a delivery, and the replay that chaos may add. It never rejects.
 * @param delivery with the attempts that were made already
 */
export async function attemptDelivery(
  delivery: Delivery,
  deps: AttemptDeps,
  { stop, renew, onAttempt, onResult }: AttemptHooks,
): Promise<void> {
  const { policy, chaos, random, rules, clock } = deps;
  const { maxAttempts } = policy;
  const number = delivery.attempts.filter(({ kind }) => kind === 'scheduled').length + 1;
  const last = number >= maxAttempts;
  const plan = planAttempt(random, chaos.get(), { id: delivery._id, attempt: number, last });
  const { url } = rules.action(delivery.ruleId, delivery.actionId);
  const startedAt = clock.now();
  const signed = await signAttempt(delivery, url, number, plan, deps);
  const attempt: Attempt = { number, kind: 'scheduled', startedAt, ...signed };
  const send = (what: Attempt, slowBodyMs: number) =>
    sendInTime(what, slowBodyMs, deps, stop, renew);
  const stopped = () => stop.aborted;

  if (stopped()) return;
  onAttempt(attempt);
  const answered = await send(attempt, plan.modes.has('slowBody') ? policy.slowBodyMs : 0);
  if (stopped()) return;
  const seen = plan.modes.has('dropResponse') ? dropResponse(answered) : answered;
  const result = attemptResult(seen.response, number, maxAttempts);
  onAttempt({ ...seen, result });
  onResult(result, number);

  if (!plan.modes.has('replay')) return;
  const replay = await send({ ...attempt, kind: 'replay', chaos: ['replay'] }, 0);
  if (!stopped()) onAttempt(replay);
}

/** Sends one request and waits for the response for `acknowledgeWithin` of the simulator's clock. */
async function sendInTime(
  attempt: Attempt,
  slowBodyMs: number,
  { clock, send, policy }: AttemptDeps,
  stop: AbortSignal,
  renew: () => void,
): Promise<AnsweredAttempt> {
  const ended = new AbortController();
  const end = () => {
    ended.abort();
  };
  const timer = clock.at(clock.now() + policy.acknowledgeWithin, () => {
    renew();
    ended.abort(LATE);
  });
  // Not AbortSignal.any: on a signal that lives as long as the simulator, it leaks.
  stop.addEventListener('abort', end);
  renew();
  const sentAt = performance.now();
  const { url, headers, body } = attempt.request;
  const response = await send({ url, headers, body: Buffer.from(body), slowBodyMs }, ended.signal);
  timer.cancel();
  stop.removeEventListener('abort', end);
  return {
    ...attempt,
    // A status line that arrived in time counts, even when the body did not.
    response:
      ended.signal.reason === LATE && response.kind !== 'status' ? { kind: 'timeout' } : response,
    endedAt: clock.now(),
    tookMs: Math.round((performance.now() - sentAt) * 10) / 10,
  };
}

/** The receiver did its work, but the service never gets the response. */
function dropResponse(attempt: AnsweredAttempt): AnsweredAttempt {
  const { response } = attempt;
  if (response.kind !== 'status') return attempt;
  const lost = { kind: 'connection-error', code: 'ECONNRESET' } as const;
  return { ...attempt, response: lost, droppedResponse: response };
}
