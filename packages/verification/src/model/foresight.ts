import type { EventModel } from './event-model.ts';
import { MAX_ATTEMPTS, type Machine } from './machine.ts';

/** What a handler is to do when it runs. */
export type Behaviour = 'ok' | 'fail' | 'slow';

/** A signed request, as it was sent. */
export interface Sent {
  webhookId: string;
  key: string;
  behaviour: Behaviour;
  /** Milliseconds: when it was signed for. */
  signedFor: number;
  secret: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

const TOLERANCE_SECONDS = 300;

/** Of a handler that is abandoned at a shutdown; nobody may take it for done. */
export const ABANDONED = ['deadline', 'in-progress', 'handler-failed', 'store-unavailable'];

/**
 * The outcomes that a delivery may have, told before it is sent. `deadline` stands for a slow handler.
 * @param live the secrets that the provider gives; a machine may still know older ones
 */
export function foresee(
  sent: Sent,
  machine: Machine,
  model: EventModel,
  live: readonly string[],
  now: number,
): string[] {
  const outcome = foreseeOutcome(sent, machine, model, now);
  const signatureFirst = outcome !== 'timestamp-out-of-tolerance' && !live.includes(sent.secret);
  return signatureFirst ? ['signature-mismatch', outcome] : [outcome];
}

function foreseeOutcome(sent: Sent, machine: Machine, model: EventModel, now: number): string {
  const age = Math.floor(now / 1000) - Math.floor(sent.signedFor / 1000);
  if (Math.abs(age) > TOLERANCE_SECONDS) return 'timestamp-out-of-tolerance';
  if (machine.closing) return 'shutting-down';
  if (machine.store.fault !== 'none') return 'store-unavailable';
  // Its signature still verifies, so it has to be remembered.
  if (model.saw(sent.webhookId)) return 'replayed';
  if (model.isDone(sent.key)) return 'duplicate';
  if (model.lease(sent.key, now) !== undefined) return 'in-progress';
  const attempt = model.attempts(sent.key) + 1;
  if (attempt > 3 * MAX_ATTEMPTS) return 'dead-lettered';
  if (sent.behaviour === 'slow') return 'deadline';
  if (sent.behaviour === 'ok') return 'handled';
  return attempt < MAX_ATTEMPTS ? 'handler-failed' : 'dead-lettered';
}

/** The outcome of a delivery whose slow handler ends now. */
export function foreseeEnd(
  { key, attempt, token, ok }: { key: string; attempt: number; token: string; ok: boolean },
  machine: Machine,
  model: EventModel,
  now: number,
): string {
  const parks = !ok && attempt >= MAX_ATTEMPTS;
  if (!ok && !parks) return 'handler-failed';
  if (machine.store.fault !== 'none') return 'store-unavailable';
  if (model.lease(key, now) !== token) return 'in-progress';
  return parks ? 'dead-lettered' : 'handled';
}
