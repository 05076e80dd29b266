import type { DeliverySource } from './outcomes.ts';

/** Who sends an event that the service has sent before, or should have sent. */
export type Sender = Extract<DeliverySource, 'redrive' | 'reconcile'>;

const SENDERS = ['redrive', 'reconcile'] as const satisfies readonly Sender[];

/**
 * A new webhook id that shows who sent a delivery: the service uses UUIDs. The command line sends over
 * the network what it redrives and reconciles, and the receiver counts it as such.
 * @param earlierAttempts how many times the event of a dead letter has been run
 */
export const newWebhookId = (sender: Sender, earlierAttempts = 0): string =>
  `${sender}-${earlierAttempts > 0 ? `${String(earlierAttempts)}:` : ''}${crypto.randomUUID()}`;

/** Who sent a delivery that arrived over the network, by its webhook id. */
export const sourceOf = (webhookId: string): DeliverySource =>
  SENDERS.find((sender) => webhookId.startsWith(`${sender}-`)) ?? 'webhook';

/** How many times the event of a delivery was run before, according to its webhook id. */
export const earlierAttemptsOf = (webhookId: string): number =>
  Number(/^redrive-(\d{1,6}):/.exec(webhookId)?.[1] ?? 0);

/**
 * The webhook id of a claim for a delivery that did not arrive over the network, and so cannot be a
 * replay.
 */
export const claimIdOf = (source: DeliverySource, token: string): string => `${source}.${token}`;
