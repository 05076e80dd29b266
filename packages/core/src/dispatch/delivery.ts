import type { Logger } from '../reporting/logger.ts';

/** One verified delivery: what the service sent, and how we know that it did. */
export interface Delivery {
  readonly webhookId: string;
  /** When this attempt was signed; Unix seconds. */
  readonly timestamp: number;
  /** When it reached the receiver; milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The `id` of the secret that matched; absent where a worker got the delivery from a queue. */
  readonly secretId?: string;
  /** `true` where a worker got the delivery from a queue. */
  readonly queued?: boolean;
  /** The raw body, byte for byte. */
  readonly rawBody: Uint8Array;
  /** The logger of the request that brought it. */
  readonly log: Logger;
}
