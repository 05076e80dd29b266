import { sign } from '@call-webhooks/core';
import type { HeaderPrefix } from '@call-webhooks/core/internal';
import type { ChaosMode } from '../chaos/chaos.ts';
import { tamper, type AttemptPlan } from '../chaos/chaos-plan.ts';
import type { Secrets } from '../rules/secrets.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Attempt, Delivery } from './delivery.ts';

/** What signing needs. */
export interface SigningDeps {
  readonly random: SeededRandom;
  readonly secrets: Secrets;
  readonly headerPrefix: HeaderPrefix;
  readonly extraHeaders: Readonly<Record<string, string>>;
  /** The time that signatures carry, in milliseconds since the epoch. */
  readonly signingTime: () => number;
}

/** The request of an attempt, and the chaos modes that were applied to it. */
export type SignedRequest = Pick<Attempt, 'request' | 'chaos'>;

/**
 * Builds and signs the request of one attempt. Every attempt has a new UUID and a new signature
 * (spec, "Webhook deliveries"). An action without a secret sends none of the three headers.
 * @guess Whether bodies may be compressed
 */
export async function signAttempt(
  delivery: Delivery,
  url: string,
  attempt: number,
  plan: AttemptPlan,
  { random, secrets, headerPrefix, extraHeaders, signingTime }: SigningDeps,
): Promise<SignedRequest> {
  const secret = secrets.get(delivery.actionId);
  const key: readonly [string, number] = [delivery._id, attempt];
  const body = plan.modes.has('tamperedBody')
    ? tamper(delivery.body, random.fraction('tampered', ...key))
    : delivery.body;
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
      body: delivery.body,
      webhookId: random.uuid(...key),
      timestamp: Math.floor(signingTime() / 1_000) + plan.skewSeconds,
      headerPrefix,
    });
    Object.assign(headers, signature);
  }
  return { request: { url, headers, body }, chaos: [...applied] };
}

function signingSecret(
  secret: NonNullable<ReturnType<Secrets['get']>>,
  applied: ReadonlySet<ChaosMode>,
  random: SeededRandom,
  key: readonly [string, number],
): string {
  if (applied.has('wrongSecret')) return random.secret('stranger', ...key);
  return applied.has('oldSecret') ? (secret.previous ?? secret.current) : secret.current;
}
