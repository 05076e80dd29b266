/** A verified delivery on its way to a worker. */
export interface QueuedDelivery {
  /** Whose event it is. Absent in a receiver without the option `tenant`. */
  tenant?: string;
  webhookId: string;
  /** When the attempt was signed; Unix seconds. */
  timestamp: number;
  /** When the receiver got it; milliseconds since the epoch. */
  receivedAt: number;
  /** The idempotency key, if the event has one. A queue may use it to drop duplicates. */
  key?: string;
  eventName?: string;
  callId?: string;
  /** A trace context to continue in the worker, as W3C headers: `{ traceparent: '…' }`. */
  trace?: Record<string, string>;
  /** Base64 of the raw bytes. */
  body: string;
}

/** Stores deliveries durably. From there on, its engine does retries, back-off and dead letters. */
export interface Queue {
  /** Resolves only once the delivery would survive a crash. The service then gets 202. */
  enqueue(delivery: QueuedDelivery): Promise<void>;
  /** Resolves when the queue can take a delivery, for `receiver.health()`. */
  ping?(): Promise<unknown>;
  /** Called by whoever created the queue; a receiver never closes it. */
  close?(): Promise<void>;
}

/** The part of Node's `Buffer` that is used here. Deno, Bun and Node have it; browsers and Workers may not. */
interface NodeBuffer {
  from(bytes: ArrayBufferLike, offset: number, length: number): { toString(as: 'base64'): string };
  from(text: string, as: 'base64'): Uint8Array;
}
const { Buffer } = globalThis as { Buffer?: NodeBuffer };

/** Bytes as base64, in every runtime and for any length. */
export function toBase64(bytes: Uint8Array): string {
  if (Buffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  let binary = '';
  for (let i = 0; i < bytes.length; i += 8_192)
    binary += String.fromCharCode(...bytes.subarray(i, i + 8_192));
  return btoa(binary);
}

/**
 * The bytes of a base64 text.
 * @throws TypeError or DOMException when the text is not base64
 */
export function fromBase64(text: string): Uint8Array {
  if (!Buffer) return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  // `Buffer` skips what is not base64.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new TypeError('The text is not base64.');
  const bytes = Buffer.from(text, 'base64');
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
