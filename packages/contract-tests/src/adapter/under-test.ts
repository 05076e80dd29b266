import type { Outcome, Receiver, ReceiverOptions } from '@call-webhooks/core';
import type { LogEntry } from '@call-webhooks/store-tests/internal';
import type { Sender } from '../sender.ts';

/** A framework's server with the receiver mounted in it, on a free port of the loopback. */
export interface Mounted {
  /** Where deliveries go. */
  url: string;
  /** Where `ready` answers probes. */
  readyUrl: string;
  receiver: Receiver;
  close(): Promise<void>;
  /** Whether `close` closes the receiver as well, as the adapter promises. */
  closesReceiver?: true;
}

/** What a host does before, around or instead of its adapter. */
export interface Host {
  /** It reads the whole body before it calls the adapter, which sees no connection. */
  readsBody?: true;
  /** It passes on bodies as text, so bytes that are no UTF-8 are lost. */
  decodesBody?: true;
  /** It drops the body of a request without a content type. */
  needsContentType?: true;
  /** It responds only once late handlers have ended. */
  waitsForLateHandlers?: true;
  /** The status that it responds with itself, if it does not pass on the request. */
  refuses?(method: string, contentType: string): number | undefined;
}

/** A framework with its adapter. */
export interface AdapterUnderTest {
  name: string;
  /** How its host differs from a plain server. */
  host?: Host;
  /** @param graceMs for an adapter that closes the receiver with the app */
  mount(options: ReceiverOptions, graceMs: number | undefined): Promise<Mounted>;
}

/** What a group of contract tests works with. */
export interface AdapterTestContext {
  host: Host;
  /** Mounts a receiver that ends with the test. */
  start(options?: Partial<ReceiverOptions>, graceMs?: number): Promise<Started>;
  /** Mounts one that the caller ends. */
  mount(options?: Partial<ReceiverOptions>): Promise<Started>;
}

export interface Started extends Omit<Mounted, 'close' | 'closesReceiver'> {
  secret: string;
  sender: Sender;
  lines: string[];
  /** The same, as the logger got them. */
  entries: LogEntry[];
  outcomes: Outcome[];
  /** Closes the receiver as its users do: with the app, where the adapter does so, or by itself. */
  shutDown(graceMs: number): Promise<void>;
  /** Closes the receiver and its server. */
  end(): Promise<void>;
}
