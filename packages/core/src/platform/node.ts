import asyncHooks from 'node:async_hooks';
import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import os from 'node:os';
import process from 'node:process';
import type { HmacKey, Platform } from './platform.ts';

interface NodeKey extends HmacKey {
  readonly key: crypto.KeyObject;
}

export const prepareKey: Platform['prepareKey'] = (bytes): NodeKey => ({
  implementation: 'node:crypto',
  key: crypto.createSecretKey(bytes),
});

export const hmacBase64: Platform['hmacBase64'] = (key, head, body) =>
  crypto
    .createHmac('sha256', (key as NodeKey).key)
    .update(head, 'latin1')
    .update(body)
    .digest('base64');

export const equalText: Platform['equalText'] = (a, b) =>
  a.length === b.length &&
  crypto.timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));

export const toBase64: Platform['toBase64'] = (bytes) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

export const fromBase64: Platform['fromBase64'] = (text) => {
  // `Buffer` skips what is not base64.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new TypeError('The text is not base64.');
  const bytes = Buffer.from(text, 'base64');
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
};

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
