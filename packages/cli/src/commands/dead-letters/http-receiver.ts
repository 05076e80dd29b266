import {
  OUTCOMES,
  WebhookError,
  type Outcome,
  type Receiver,
  type StoredDeadLetter,
  type Store,
} from '@call-webhooks/core';
import { endingOf, isTaken, mayBeRunning, postSigned } from '../../receiver/post-signed.ts';
import type { Target } from '../../receiver/target.ts';

/**
 * Redrives over HTTP: makes the event free in its store, signs the raw body anew and posts it to a
 * receiver on that store. Where the receiver did not take the event, it becomes dead-lettered again.
 */
export function httpReceiver(store: Store, target: Target): Pick<Receiver, 'deliver'> {
  return {
    async deliver(input) {
      const letter = input as StoredDeadLetter;
      if (letter.key !== undefined) await store.reopen?.(letter.key);
      const webhookId = isKeyedById(letter, target)
        ? letter.webhookId
        : `redrive-${crypto.randomUUID()}`;
      const answer = await postSigned(letter.rawBody, target, webhookId);
      if (!isTaken(answer) && !mayBeRunning(answer)) await markDead(store, letter.key);
      const { code, message } = endingOf(answer, target, 'No letter was lost.');
      return {
        outcome: code,
        source: 'redrive',
        status: OUTCOMES[code].status,
        durationMs: 0,
        attempt: letter.attempt + 1,
        error: new WebhookError(code, message),
      } satisfies Outcome;
    },
  };
}

/** With the profile, an event without a key of its own is known by its webhook id. */
const isKeyedById = ({ key, webhookId }: StoredDeadLetter, { profile }: Target): boolean =>
  profile !== undefined && (key === undefined || key.endsWith(`webhook-id:${webhookId}`));

/** Nobody holds the event: until it is redriven, its deliveries shall not run. */
async function markDead(store: Store, key: string | undefined): Promise<void> {
  if (key === undefined) return;
  const token = crypto.randomUUID();
  const claim = { key, token, webhookId: `redrive.${token}`, replayUntil: Date.now() };
  const { status } = await store.admit({ ...claim, leaseMs: 60_000 });
  if (status === 'admitted') await store.complete(key, token, 'dead-lettered');
}
