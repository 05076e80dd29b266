import type { Delivery } from '../dispatch/delivery.ts';
import type { Job } from '../dispatch/job.ts';
import type { OutcomeCode } from '../outcome/outcomes.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { newToken } from '../store/lease.ts';
import type { Admission, Claim } from '../store/store.ts';
import { tenantKey } from '../tenant.ts';
import type { Settings } from './options.ts';

/**
 * The claim of one delivery on its event.
 * @param replayUntil until when the webhook id must be remembered; milliseconds since the epoch
 */
export function createClaim(
  { source, tenant, webhookId, timestamp }: Delivery,
  replayUntil: number,
  { route, key, group }: Pick<Job, 'route' | 'key' | 'group'>,
  { profile, leaseFor, oneAtATime }: Settings,
): Claim {
  const token = newToken();
  // With the profile, retries keep the webhook id but are signed anew. An id has no dot.
  const signed = profile === undefined ? webhookId : `${webhookId}.${String(timestamp)}`;
  return {
    // What is not from the network is no replay, although its webhook id may be known.
    webhookId: source === 'webhook' ? tenantKey(tenant, signed) : `${source}.${token}`,
    replayUntil,
    leaseMs: leaseFor,
    token,
    key,
    // If the function throws for a replay, the replay becomes a dead letter, which has no key.
    isKeyOfBody: route.isKeyOfBody && typeof oneAtATime !== 'function' ? true : undefined,
    group,
  };
}

/**
 * The outcome of a claim that was refused. Stores are written by users as well: check the answer.
 * @throws WebhookError `store-unavailable` for an answer that no store may give
 */
export function refusalOutcome({
  status,
}: Exclude<Admission, { status: 'admitted' }>): OutcomeCode {
  if (status === 'dead-lettered') return 'in-dead-letters';
  if (status !== 'group-busy' && ['duplicate', 'in-progress', 'replayed'].includes(status))
    return status;
  throw new WebhookError('store-unavailable', 'The store returned an invalid answer.');
}
