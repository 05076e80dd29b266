import { sign, type HeaderPrefix } from '@call-webhooks/core';
import type { AttemptPlan } from '../chaos/attempt-plan.ts';
import type { ChaosMode } from '../chaos/modes.ts';
import { tamper } from '../chaos/tamper.ts';
import type { Secrets } from '../rules/secrets.ts';
import type { Draws } from '../seed/draws.ts';
import type { Attempt, Delivery } from './delivery.ts';

interface Parts {
  readonly draws: Draws;
  readonly secrets: Secrets;
  readonly headerPrefix: HeaderPrefix;
  readonly extraHeaders: Readonly<Record<string, string>>;
  /** When an attempt is signed; milliseconds since the epoch. */
  readonly signingTime: () => number;
}

/** What goes over the wire, and what was done to it. */
export type SignedRequest = Pick<Attempt, 'request' | 'chaos'>;

/**
 * Makes the request of one attempt: a new UUID and a new signature every time (spec, "Webhook
 * deliveries"). An action without a secret gets none of the three headers.
 */
export async function attemptRequest(
  delivery: Delivery,
  url: string,
  attempt: number,
  plan: AttemptPlan,
  { draws, secrets, headerPrefix, extraHeaders, signingTime }: Parts,
): Promise<SignedRequest> {
  const secret = secrets.get(delivery.actionId);
  const key: readonly [string, number] = [delivery._id, attempt];
  const body = plan.modes.has('tamperedBody')
    ? tamper(delivery.body, draws.fraction('tampered', ...key))
    : delivery.body;
  const headers: Record<string, string> = {
    ...extraHeaders,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const struck = new Set(plan.modes);
  if (!secret || !secret.previous) struck.delete('oldSecret');
  if (!secret) for (const mode of ['wrongSecret', 'clockSkew'] as const) struck.delete(mode);
  if (struck.has('wrongSecret')) struck.delete('oldSecret');
  if (secret) {
    const signature = await sign({
      secret: signingSecret(secret, struck, draws, key),
      body: delivery.body,
      webhookId: draws.uuid(...key),
      timestamp: Math.floor(signingTime() / 1_000) + plan.skewSeconds,
      headerPrefix,
    });
    Object.assign(headers, signature);
  }
  return { request: { url, headers, body }, chaos: [...struck] };
}

function signingSecret(
  secret: NonNullable<ReturnType<Secrets['get']>>,
  struck: ReadonlySet<ChaosMode>,
  draws: Draws,
  key: readonly [string, number],
): string {
  if (struck.has('wrongSecret')) return draws.secret('stranger', ...key);
  return struck.has('oldSecret') ? (secret.previous ?? secret.current) : secret.current;
}
