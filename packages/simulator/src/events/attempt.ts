import { sign } from '@call-webhooks/core';
import { setMaxListeners } from 'node:events';
import { planAttempt, tamper, type AttemptPlan, type ChaosMode, type Chaos } from '../chaos.ts';
import type { SimulatorClock } from '../clock/clock.ts';
import type { Settings } from '../options.ts';
import type { Rules } from '../rules/rules.ts';
import type { ActionSecret, Secrets } from '../rules/secrets.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Attempt, AttemptResponse, AttemptResult, WebhookEvent } from './webhook-event.ts';
import type { Send } from './sender.ts';

/** Ends all attempts. Each one in flight listens to it, and Node would take that for a leak. */
export function createStop(): AbortController {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
}

/** What an attempt uses of the simulation. */
export interface AttemptParts {
  readonly chaos: Chaos;
  readonly clock: SimulatorClock;
  readonly random: SeededRandom;
  readonly rules: Rules;
  readonly secrets: Secrets;
  readonly send: Send;
  readonly settings: Settings;
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
 * Makes the next attempt of an event, and the replay that chaos may add. It never rejects.
 * @param event with the attempts that were made already
 */
export async function makeAttempt(
  event: WebhookEvent,
  simulation: AttemptParts,
  { stop, renew, onAttempt, onResult }: AttemptHooks,
): Promise<void> {
  const { settings, chaos, random, rules, clock } = simulation;
  const { maxAttempts } = settings;
  const number = event.attempts.filter(({ kind }) => kind === 'scheduled').length + 1;
  const last = number >= maxAttempts;
  const plan = planAttempt(random, chaos.get(), { id: event._id, attempt: number, last });
  const { url } = rules.action(event.ruleId, event.actionId);
  const startedAt = clock.now();
  const signed = await signAttempt(event, url, number, plan, simulation);
  const attempt: Attempt = { number, kind: 'scheduled', startedAt, ...signed };
  const send = (what: Attempt, slowBodyMs: number) =>
    sendInTime(what, slowBodyMs, simulation, stop, renew);
  const stopped = () => stop.aborted;

  if (stopped()) return;
  onAttempt(attempt);
  const answered = await send(attempt, plan.modes.has('slowBody') ? settings.slowBodyMs : 0);
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
  { clock, send, settings }: AttemptParts,
  stop: AbortSignal,
  renew: () => void,
): Promise<AnsweredAttempt> {
  const ended = new AbortController();
  const end = () => {
    ended.abort();
  };
  const timer = clock.at(clock.now() + settings.acknowledgeWithin, () => {
    renew();
    ended.abort(LATE);
  });
  // Not AbortSignal.any: on a signal that lives as long as the simulator, it leaks.
  stop.addEventListener('abort', end);
  renew();
  const sentAt = performance.now();
  const { url, headers, body } = attempt.request;
  const response = await send({ url, headers, body: Buffer.from(body), slowBodyMs }, ended.signal);
  clock.cancel(timer);
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

/**
 * Applies the state table of the spec: any 2xx acknowledges the event, a 404 pauses the rule at
 * once, and everything else is retried. The rule is paused when the last attempt fails.
 * @param attempt counts from 1
 * @param maxAttempts includes the first attempt
 */
function attemptResult(
  response: AttemptResponse,
  attempt: number,
  maxAttempts: number,
): AttemptResult {
  if (response.kind === 'status') {
    if (response.status >= 200 && response.status < 300) return { next: 'acknowledged' };
    if (response.status === 404) return { next: 'paused', reason: 'responded-404' };
  }
  if (attempt >= maxAttempts) return { next: 'paused', reason: 'last-attempt-failed' };
  return { next: 'retry', reason: response.kind };
}

/**
 * The delay until the next attempt: "about" every five minutes.
 * @param every milliseconds
 * @param jitter the largest deviation, as a fraction of `every`
 * @param fraction a random number from 0 to 1
 * @returns milliseconds
 */
export function retryDelay(every: number, jitter: number, fraction: number): number {
  return Math.round(every * (1 + jitter * (2 * fraction - 1)));
}

/**
 * Builds and signs the request of one attempt. Every attempt has a new UUID and a new signature
 * (spec, "Webhook deliveries"). An action without a secret sends none of the three headers.
 * @guess Whether bodies may be compressed
 * @returns the request, and the chaos modes that were applied to it
 */
async function signAttempt(
  event: WebhookEvent,
  url: string,
  attempt: number,
  plan: AttemptPlan,
  { clock, random, secrets, settings }: AttemptParts,
): Promise<Pick<Attempt, 'request' | 'chaos'>> {
  const { headerPrefix, extraHeaders, timestamps, wallClock } = settings;
  const now = timestamps === 'wall' ? wallClock() : clock.now();
  const secret = secrets.get(event.actionId);
  const key: readonly [string, number] = [event._id, attempt];
  const body = plan.modes.has('tamperedBody')
    ? tamper(event.body, random.fraction('tampered', ...key))
    : event.body;
  const headers: Record<string, string> = {
    ...extraHeaders,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const applied = new Set(plan.modes);
  if (!secret || !secret.previous) applied.delete('oldSecret');
  if (!secret) for (const mode of ['wrongSecret', 'clockSkew'] as const) applied.delete(mode);
  if (applied.has('wrongSecret')) applied.delete('oldSecret');
  if (secret) {
    const signature = await sign({
      secret: signingSecret(secret, applied, random, key),
      body: event.body,
      webhookId: random.uuid(...key),
      timestamp: Math.floor(now / 1_000) + plan.skewSeconds,
      headerPrefix,
    });
    Object.assign(headers, signature);
  }
  return { request: { url, headers, body }, chaos: [...applied] };
}

function signingSecret(
  secret: ActionSecret,
  applied: ReadonlySet<ChaosMode>,
  random: SeededRandom,
  key: readonly [string, number],
): string {
  if (applied.has('wrongSecret')) return random.secret('stranger', ...key);
  return applied.has('oldSecret') ? (secret.previous ?? secret.current) : secret.current;
}
