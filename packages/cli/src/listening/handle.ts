import type { IncomingMessage } from 'node:http';
import { STATUS, WebhookError, type OutcomeCode } from '@call-webhooks/core';
import { readRawBody } from '@call-webhooks/core/node';
import { namesOf, type Arrival } from './arrival.ts';
import { authenticate, type Authentication } from './authenticate.ts';
import { forward } from './forward.ts';
import type { Memory } from './memory.ts';

/** How `listen` treats what arrives. */
export interface Treatment {
  /** Absent: everything is believed. */
  readonly authentication: Authentication | undefined;
  readonly forwardTo: string | undefined;
  /** Answers everything authentic so, in place of 200. */
  readonly answer: number | undefined;
  readonly memory: Memory;
  readonly signal: AbortSignal;
}

/** What is answered, and what is told about it. */
export interface Handled {
  readonly arrival: Arrival;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
}

const LIMITS = { bodyLimit: 10 * 1024 ** 2, bodyTimeout: 10_000 };

/** Takes one request: method, body, signature, and then the server behind, or our own memory. */
export async function handle(request: IncomingMessage, treatment: Treatment): Promise<Handled> {
  const { method = '', url: path = '' } = request;
  const base = { time: new Date().toISOString(), method, path, verified: false };
  const own = (code: OutcomeCode, more: Partial<Arrival> = {}): Handled => ({
    arrival: { ...base, status: STATUS[code], outcome: code, body: new Uint8Array(), ...more },
    body: Buffer.from(JSON.stringify({ outcome: code })),
    contentType: 'application/json',
  });
  if (method !== 'POST') return own('method-not-allowed');
  const read = await readRawBody(request, LIMITS).catch((error: unknown) =>
    error instanceof WebhookError ? error : new WebhookError('body-timeout', String(error)),
  );
  if (read instanceof WebhookError) return own(codeOf(read), { problem: read.message });
  const known = { ...namesOf(read), body: read };
  const { authentication } = treatment;
  const authentic = authentication && (await authenticate(request, read, authentication));
  if (authentic?.verified === false) {
    const { error, cause } = authentic;
    return own(codeOf(error), { ...known, problem: cause ?? error.message });
  }
  const verified = authentic !== undefined;
  const webhookId = authentic?.webhookId;
  if (treatment.forwardTo !== undefined) {
    const passed = await forward(request, read, treatment.forwardTo, treatment.signal);
    const { status, outcome, forwarded, body, contentType } = passed;
    const arrival = { ...base, ...known, verified, webhookId, status, outcome, forwarded };
    return { arrival, body, contentType };
  }
  const code = await treatment.memory.meet(webhookId ?? crypto.randomUUID(), read);
  const handled = own(code, { ...known, verified, webhookId });
  if (treatment.answer === undefined || code === 'replayed') return handled;
  const arrival = { ...handled.arrival, status: treatment.answer, outcome: 'answered as told' };
  return { ...handled, arrival, body: Buffer.from('{}') };
}

const codeOf = ({ code }: WebhookError): OutcomeCode =>
  Object.hasOwn(STATUS, code) ? (code as OutcomeCode) : 'invalid-payload';
