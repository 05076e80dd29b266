import asyncHooks from 'node:async_hooks';
import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import os from 'node:os';
import process from 'node:process';
import type { HmacKey, Platform } from './platform.ts';

/** Of SHA-256; bytes. */
const BLOCK_SIZE = 64;
const DIGEST_SIZE = 32;

/** What the two hashes of an HMAC begin with. Private, so that nothing that prints a key shows it. */
class NodeKey implements HmacKey {
  readonly implementation = 'node:crypto';
  readonly #inner = Buffer.alloc(BLOCK_SIZE);
  /** With room for the inner hash. */
  readonly #outer = Buffer.alloc(BLOCK_SIZE + DIGEST_SIZE);

  constructor(bytes: Uint8Array) {
    const isLong = bytes.length > BLOCK_SIZE;
    const key = isLong ? crypto.createHash('sha256').update(bytes).digest() : bytes;
    for (let index = 0; index < BLOCK_SIZE; index++) {
      const byte = key[index] ?? 0;
      this.#inner[index] = byte ^ 0x36;
      this.#outer[index] = byte ^ 0x5c;
    }
  }

  /**
   * HMAC by its definition (RFC 2104, section 2). `createHmac` makes a native object each time, which
   * has to be collected: 3 to 6 % of a delivery (decision 19).
   */
  hmac(head: string, body: Uint8Array): string {
    const message = Buffer.allocUnsafe(BLOCK_SIZE + head.length + body.length);
    message.set(this.#inner);
    message.write(head, BLOCK_SIZE, 'latin1');
    message.set(body, BLOCK_SIZE + head.length);
    const hash = crypto.hash('sha256', message, 'binary');
    message.fill(0, 0, BLOCK_SIZE); // small buffers share their memory with others
    this.#outer.write(hash, BLOCK_SIZE, 'latin1');
    return crypto.hash('sha256', this.#outer, 'base64');
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

const resource = () => AsyncResource && new AsyncResource('call-webhooks');
const outside = resource();
export const apartFromRequests: Platform['apartFromRequests'] =
  (run) =>
  (...args) => {
    // A new one for each call: `enterWith` changes the one that it is called in.
    const own = outside?.runInAsyncScope(resource);
    if (own) own.runInAsyncScope(run, undefined, ...args);
    else run(...args);
  };
export const inThisContext: Platform['inThisContext'] = (run) =>
  AsyncResource ? AsyncResource.bind(run) : run;
export const openChannel: Platform['openChannel'] = (name) => channel?.(name);
export const openTracingChannel: Platform['openTracingChannel'] = (name) => tracingChannel?.(name);
