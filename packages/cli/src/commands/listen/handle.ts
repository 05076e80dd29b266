import type { IncomingMessage } from 'node:http';
import {
  eventKey,
  memoryStore,
  verify,
  WebhookError,
  type OutcomeCode,
  type VerifyOptions,
} from '@call-webhooks/core';
import { STATUS } from '@call-webhooks/core/internal';
import { readRawBody } from '@call-webhooks/core/node';
import { diagnose } from '../verify.ts';
import { namesOf, type Arrival } from './arrival.ts';
import { forward } from './forward.ts';

/** How `listen` verifies a delivery. */
export interface Verification {
  /** Read for every delivery, so that a secret rotated in a file is known at once. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly headerPrefix?: string | undefined;
  readonly toleranceSeconds: number;
}

/** How `listen` handles a request. */
export interface HandleOptions {
  /** Without it, everything is accepted. */
  readonly verification: Verification | undefined;
  readonly forwardTo: string | undefined;
  /** The status to respond with instead of 200. */
  readonly answer: number | undefined;
  readonly memory: EventMemory;
  readonly signal: AbortSignal;
}

/** The response, and what to print. */
export interface Handled {
  readonly arrival: Arrival;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
}

const BODY_LIMITS = { bodyLimit: 10 * 1024 ** 2, bodyTimeout: 10_000 };

/** Handles one request: method, body, signature, then forwarding or deduplication. */
export async function handle(request: IncomingMessage, options: HandleOptions): Promise<Handled> {
  const { method = '', url: path = '' } = request;
  const base = { time: new Date().toISOString(), method, path, verified: false };
  const respondWith = (code: OutcomeCode, more: Partial<Arrival> = {}): Handled => ({
    arrival: { ...base, status: STATUS[code], outcome: code, body: new Uint8Array(), ...more },
    body: Buffer.from(JSON.stringify({ outcome: code })),
    contentType: 'application/json',
  });
  if (method !== 'POST') return respondWith('method-not-allowed');
  const read = await readRawBody(request, BODY_LIMITS).catch((error: unknown) =>
    error instanceof WebhookError ? error : new WebhookError('body-timeout', String(error)),
  );
  if (read instanceof WebhookError) return respondWith(codeOf(read), { problem: read.message });
  const known = { ...namesOf(read), body: read };
  const { verification } = options;
  const checked = verification && (await verifyRequest(request, read, verification));
  if (checked?.verified === false) {
    const { error, cause } = checked;
    return respondWith(codeOf(error), { ...known, problem: cause ?? error.message });
  }
  const verified = checked !== undefined;
  const webhookId = checked?.webhookId;
  if (options.forwardTo !== undefined) {
    const { body, contentType, ...result } = await forward(
      request,
      read,
      options.forwardTo,
      options.signal,
    );
    return { arrival: { ...base, ...known, verified, webhookId, ...result }, body, contentType };
  }
  const code = await options.memory(webhookId ?? crypto.randomUUID(), read);
  const handled = respondWith(code, { ...known, verified, webhookId });
  if (options.answer === undefined || code === 'replayed') return handled;
  const arrival = { ...handled.arrival, status: options.answer, outcome: 'answered as told' };
  return { ...handled, arrival, body: Buffer.from('{}') };
}

const codeOf = ({ code }: WebhookError): OutcomeCode =>
  Object.hasOwn(STATUS, code) ? (code as OutcomeCode) : 'invalid-payload';

type VerifyResult =
  | { readonly verified: true; readonly webhookId: string }
  | { readonly verified: false; readonly error: WebhookError; readonly cause: string | undefined };

/** @throws WebhookError for an invalid secret or header prefix, which the user has to fix */
async function verifyRequest(
  { headers }: IncomingMessage,
  body: Uint8Array,
  { secrets, headerPrefix, toleranceSeconds }: Verification,
): Promise<VerifyResult> {
  const options: VerifyOptions = { secret: [...(await secrets())], headerPrefix, toleranceSeconds };
  try {
    const { webhookId } = await verify({ headers, body }, options);
    return { verified: true, webhookId };
  } catch (error) {
    if (!(error instanceof WebhookError) || error.code.startsWith('invalid')) throw error;
    const isMismatch = error.code === 'signature-mismatch';
    const cause = isMismatch ? await diagnose({ headers, body }, options) : undefined;
    return { verified: false, error, cause };
  }
}

/** Remembers webhook ids and events, as a receiver does, and says whether a delivery is new. */
export type EventMemory = (
  webhookId: string,
  body: Uint8Array,
) => Promise<'handled' | 'duplicate' | 'replayed'>;

/** Creates a memory of the latest 10,000 deliveries. */
export function createEventMemory(): EventMemory {
  const store = memoryStore({ maxEntries: 10_000, onEvicted: () => undefined });
  return async (webhookId, body) => {
    const key = keyOf(body);
    const token = crypto.randomUUID();
    const { status } = await store.admit({
      webhookId,
      replayUntil: Date.now() + 600_000,
      leaseMs: 1_000,
      token,
      ...(key !== undefined && { key }),
    });
    if (status === 'replayed') return 'replayed';
    if (status !== 'admitted') return 'duplicate';
    if (key !== undefined) await store.complete(key, token);
    return 'handled';
  };
}

function keyOf(body: Uint8Array): string | undefined {
  try {
    const event: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof event === 'object' && event !== null ? eventKey(event) : undefined;
  } catch {
    return undefined;
  }
}
