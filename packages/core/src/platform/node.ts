import asyncHooks from 'node:async_hooks';
import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import os from 'node:os';
import process from 'node:process';
import type { HmacKey, Platform } from './platform.ts';

/** Of SHA-256; bytes. */
const BLOCK_SIZE = 64;

/** The hash of a padded key and what follows it. */
function hashOf(
  key: Uint8Array,
  rest: readonly Uint8Array[],
  encoding: 'base64' | 'binary',
): string {
  const message = Buffer.concat([key, ...rest]);
  const hash = crypto.hash('sha256', message, encoding);
  message.fill(0, 0, BLOCK_SIZE); // small buffers share their memory with others
  return hash;
}

/** A key as the two hashes of an HMAC begin with it. Private, so that nothing that prints it shows it. */
class NodeKey implements HmacKey {
  readonly implementation = 'node:crypto';
  readonly #inner: Uint8Array;
  readonly #outer: Uint8Array;

  constructor(bytes: Uint8Array) {
    const isLong = bytes.length > BLOCK_SIZE;
    const key = isLong ? crypto.createHash('sha256').update(bytes).digest() : bytes;
    const padded = (pad: number) =>
      Uint8Array.from({ length: BLOCK_SIZE }, (_none, index) => (key[index] ?? 0) ^ pad);
    this.#inner = padded(0x36);
    this.#outer = padded(0x5c);
  }

  /**
   * HMAC by its definition (RFC 2104, section 2). `createHmac` makes a native object each time, which
   * has to be collected: 3 to 6 % of a delivery (decision 19).
   */
  hmac(head: string, body: Uint8Array): string {
    const hash = hashOf(this.#inner, [Buffer.from(head, 'latin1'), body], 'binary');
    return hashOf(this.#outer, [Buffer.from(hash, 'binary')], 'base64');
  }
}

export const prepareKey: Platform['prepareKey'] = (bytes) => new NodeKey(bytes);

export const hmacBase64: Platform['hmacBase64'] = (key, head, body) =>
  (key as NodeKey).hmac(head, body);

export const equalText: Platform['equalText'] = (a, b) =>
  a.length === b.length &&
  crypto.timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));

export const sharesTimers: Platform['sharesTimers'] = true;

export const currentProcess: Platform['currentProcess'] = () => {
  let host = '';
  try {
    host = os.hostname();
  } catch {
    // Deno asks for a permission.
  }
  return { host, pid: process.pid };
};

// Runtimes that imitate Node may not have them.
const { AsyncResource } = asyncHooks as Partial<typeof asyncHooks>;
const { channel, tracingChannel } = diagnostics as Partial<typeof diagnostics>;

export const apartFromRequests: Platform['apartFromRequests'] = (run) =>
  AsyncResource ? AsyncResource.bind(run) : run;
export const openChannel: Platform['openChannel'] = (name) => channel?.(name);
export const openTracingChannel: Platform['openTracingChannel'] = (name) => tracingChannel?.(name);
