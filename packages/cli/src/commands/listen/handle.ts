import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import {
  eventKey,
  memoryStore,
  type OutcomeCode,
  WebhookError,
  type WebhookErrorCode,
} from '@call-webhooks/core';
import { STATUS } from '@call-webhooks/core/internal';
import { readRawBody } from '@call-webhooks/core/node';
import { checkSignature, type SignatureResult } from '../verify.ts';
import { describeResult } from '../../http/effect.ts';
import { post, type PostResult } from '../../http/post.ts';
import type { Colors } from '../../terminal/colors.ts';
import { bodyLines, duration, timeOfDay } from '../../terminal/format.ts';
import { shortId } from '../../terminal/table.ts';
import { join, t, type Text } from '../../terminal/text.ts';

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
  /** Whether the server behind may have any TLS certificate. */
  readonly insecure: boolean | undefined;
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
  if (read instanceof WebhookError)
    return respondWith(codeOf(read.code), { problem: read.message });
  const known = { ...namesOf(read), body: read };
  const { verification } = options;
  const checked = verification && (await verifyRequest(request, read, verification));
  if (checked?.verified === false) {
    const { code, message, cause } = checked;
    return respondWith(codeOf(code), { ...known, problem: cause ?? message });
  }
  const verified = checked !== undefined;
  const webhookId = checked?.webhookId;
  if (options.forwardTo !== undefined) {
    const { body, contentType, ...result } = await forward(
      request,
      read,
      options.forwardTo,
      options,
    );
    return { arrival: { ...base, ...known, verified, webhookId, ...result }, body, contentType };
  }
  const code = await options.memory(webhookId ?? crypto.randomUUID(), read);
  const handled = respondWith(code, { ...known, verified, webhookId });
  if (options.answer === undefined || code === 'replayed') return handled;
  const arrival = { ...handled.arrival, status: options.answer, outcome: 'answered as told' };
  return { ...handled, arrival, body: Buffer.from('{}') };
}

const codeOf = (code: WebhookErrorCode): OutcomeCode =>
  Object.hasOwn(STATUS, code) ? (code as OutcomeCode) : 'invalid-payload';

async function verifyRequest(
  { headers }: IncomingMessage,
  body: Uint8Array,
  { secrets, headerPrefix, toleranceSeconds }: Verification,
): Promise<SignatureResult> {
  const options = { secret: [...(await secrets())], headerPrefix, toleranceSeconds };
  return checkSignature({ headers, body }, options);
}

/** Remembers webhook ids and events, as a receiver does, and says whether a delivery is new. */
type EventMemory = (
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

/** Below the service's 30 seconds, so that it gets our response. In milliseconds. */
const TIMEOUT_MS = 28_000;

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
]);

/** The headers to forward: all but those of the connection, with their case and repetitions. */
function headersToForward({ rawHeaders, headers }: IncomingMessage): Record<string, string[]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/));
  // Without a prototype, because a header may be called `constructor`.
  const forwarded = Object.create(null) as Record<string, string[]>;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || named.has(key)) continue;
    (forwarded[name] ??= []).push(value);
  }
  return forwarded;
}

/** The response to the service, and the response of the server behind. */
interface ForwardResult {
  readonly status: number;
  readonly outcome: string;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly forwarded: Forwarded;
}

/**
 * Forwards the raw bytes and the signature headers, so that the server behind can verify them too.
 * A 404, a 410 or a redirect becomes 503: passing it on could pause the rule or lose the delivery.
 */
async function forward(
  request: IncomingMessage,
  body: Uint8Array,
  url: string,
  { insecure, signal }: Pick<HandleOptions, 'insecure' | 'signal'>,
): Promise<ForwardResult> {
  const headers = headersToForward(request);
  const result = await post({ url, headers, body, timeout: TIMEOUT_MS, insecure }, signal);
  const warning = warningFor(result);
  const forwarded = { url, response: describeResult(result), ms: result.ms, warning };
  if (result.kind !== 'status' || warning !== undefined)
    return {
      status: 503,
      outcome: warning === undefined ? 'not forwarded' : 'response withheld',
      body: Buffer.from('{"outcome":"forwarding-failed"}'),
      contentType: 'application/json',
      forwarded,
    };
  return {
    status: result.status,
    outcome: 'forwarded',
    body: result.body,
    contentType: result.headers['content-type'],
    forwarded,
  };
}

function warningFor(result: PostResult): string | undefined {
  if (result.kind !== 'status') return undefined;
  const { status } = result;
  if (status === 404)
    return 'The server answered 404, which would pause the rule at once. The service gets a 503. Check the path of --forward-to.';
  if (status === 410)
    return 'The server answered 410, which means "gone". The service gets a 503. Check the path of --forward-to.';
  if (status < 200 || (status >= 300 && status < 400))
    return `The server answered ${String(status)}. The service gets a 503. Use the final URL in --forward-to.`;
  return undefined;
}

/** One request to `listen`, and its result. */
export interface Arrival {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** A code of the outcome table, or what `listen` did. */
  readonly outcome: string;
  readonly verified: boolean;
  /** Why it was refused. */
  readonly problem?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly eventName?: string | undefined;
  readonly callId?: string | undefined;
  /** The response of the server behind. */
  readonly forwarded?: Forwarded | undefined;
  readonly body: Uint8Array;
}

/** A forwarded request. */
interface Forwarded {
  readonly url: string;
  /** The status, or the error. */
  readonly response: string;
  readonly ms: number;
  /** Set when the response was not passed on. */
  readonly warning?: string | undefined;
}

/** The event name and the call id of a body, if it has them. */
function namesOf(body: Uint8Array): Pick<Arrival, 'eventName' | 'callId'> {
  try {
    const { eventName, callId } = JSON.parse(Buffer.from(body).toString('utf8')) as Record<
      string,
      unknown
    >;
    return {
      eventName: typeof eventName === 'string' ? eventName : undefined,
      callId: typeof callId === 'string' ? callId : undefined,
    };
  } catch {
    return {};
  }
}

/** An arrival as JSON. The body is parsed if it is JSON; otherwise it is text, or base64. */
export function arrivalRecord({ body, ...arrival }: Arrival): object {
  const text = isUtf8(body) ? Buffer.from(body).toString('utf8') : undefined;
  if (text === undefined) return { ...arrival, bodyBase64: Buffer.from(body).toString('base64') };
  try {
    return { ...arrival, body: JSON.parse(text) as unknown };
  } catch {
    return { ...arrival, body: text };
  }
}

/** An arrival for people. */
export function arrivalLines(colors: Colors, arrival: Arrival, withBody: boolean): Text[] {
  const { bold, cyan, dim, green, red, yellow } = colors;
  const { status, outcome, verified, problem, forwarded } = arrival;
  const paint = status < 300 ? green : status < 500 ? yellow : red;
  const head = [
    dim(timeOfDay(Date.parse(arrival.time))),
    bold(arrival.eventName ?? `${arrival.method} ${arrival.path}`),
    dim(shortId(arrival.callId ?? '')),
    verified ? green('verified') : red('not verified'),
    paint(status),
    outcome,
  ].filter((part) => typeof part === 'string' || part.plain !== '');
  return [
    join(head, '  '),
    ...(problem === undefined ? [] : [t`  ${yellow(problem)}`]),
    ...(forwarded
      ? [t`  ${cyan('→')} ${forwarded.url}  ${forwarded.response}  ${dim(duration(forwarded.ms))}`]
      : []),
    ...(withBody ? bodyLines(arrival.body, 40).map((line) => t`  ${dim(line)}`) : []),
  ];
}
