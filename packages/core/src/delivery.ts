import type { DeliverySource } from './outcomes.ts';
import type { Logger } from './report/logger.ts';

/** One verified or trusted delivery. */
export interface Delivery {
  readonly source: DeliverySource;
  /** Whose it is. Absent in a receiver without tenants. */
  readonly tenant?: string;
  readonly webhookId: string;
  /** When this attempt was signed; Unix seconds. */
  readonly timestamp: number;
  /** When it reached the receiver; milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The `id` of the secret that matched. Only a `webhook` has it. */
  readonly secretId?: string;
  /** Of a dead letter: how often it was run before it was redriven. */
  readonly earlierAttempts?: number;
  /** Of a dead letter: its id in the store of dead letters. */
  readonly letterId?: string;
  /** The raw body, byte for byte. */
  readonly rawBody: Uint8Array;
  /** The logger of the request. */
  readonly log: Logger;
}
