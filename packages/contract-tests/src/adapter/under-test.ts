import type { Outcome, Receiver, ReceiverOptions } from '@call-webhooks/core';
import type { LogEntry } from '../collecting-logger.ts';
import type { Sender } from '../sender.ts';

/** A framework's server with the receiver mounted in it, on a free port of the loopback. */
export interface Mounted {
  /** Where deliveries go. */
  url: string;
  receiver: Receiver;
  close(): Promise<void>;
}

/** A framework with its adapter. */
export interface AdapterUnderTest {
  name: string;
  mount(options: ReceiverOptions): Promise<Mounted>;
}

/** What a group of contract tests works with: `start` mounts a receiver and gives a sender for it. */
export interface AdapterTestContext {
  start(options?: Partial<ReceiverOptions>): Promise<Started>;
}

export interface Started extends Mounted {
  secret: string;
  sender: Sender;
  lines: string[];
  /** The same, as the logger got them. */
  entries: LogEntry[];
  outcomes: Outcome[];
}
