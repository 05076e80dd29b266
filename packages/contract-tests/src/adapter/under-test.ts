import type { Outcome, Receiver, ReceiverOptions } from '@call-webhooks/core';
import type { Sender } from '../sender.ts';

/** A framework's server with the receiver mounted in it, on a free port of the loopback. */
export interface Mounted {
  /** Where deliveries go. */
  url: string;
  receiver: Receiver;
  close(): Promise<void>;
}

/** A framework with its adapter, as a test hands it to the battery. */
export interface AdapterUnderTest {
  name: string;
  mount(options: ReceiverOptions): Promise<Mounted>;
}

/** What each part of the battery gets: a receiver, started with its options, and a sender for it. */
export interface Bench {
  start(options?: Partial<ReceiverOptions>): Promise<Started>;
}

export interface Started extends Mounted {
  secret: string;
  sender: Sender;
  lines: string[];
  outcomes: Outcome[];
}
