import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { createReceiver, generateSecret, memoryStore, sign } from '@call-webhooks/core';
import { readRawBody } from '@call-webhooks/core/node';
import { describeResult } from '../http/effects.ts';
import { post, type PostResult } from '../http/post.ts';
import { bodyLines, duration, timeOfDay } from '../terminal/format.ts';
import { shortId } from '../terminal/table.ts';
import { type Colors, join, t, type Text } from '../terminal/text.ts';
import { checkSignature } from './verify.ts';

/** How `listen` handles a request. */
export interface Handling {
  /** Read for every delivery, so that a secret rotated in a file is known at once. */
  readonly secrets: () => Promise<readonly string[]>;
  /** Whether to accept everything. */
  readonly unverified: boolean;
  readonly headerPrefix?: string | undefined;
  readonly toleranceSeconds: number;
  readonly forwardTo: string | undefined;
  /** Whether the server behind may have any TLS certificate. */
  readonly insecure: boolean | undefined;
  /** The status to respond with instead of 200. */
  readonly answer: number | undefined;
  readonly signal: AbortSignal;
}

/** The response, and what to print. */
export interface Handled {
  readonly arrival: Arrival;
  readonly body: string | Uint8Array;
  readonly contentType: string | undefined;
}

const BODY_LIMIT = 10 * 1024 ** 2;
const logger = { warn: () => undefined, error: () => undefined };
const acknowledge = () => undefined;

/** A receiver that handles nothing, and what to print of each request. */
export function createListener(handling: Handling): (request: IncomingMessage) => Promise<Handled> {
  const { headerPrefix, toleranceSeconds, unverified, forwardTo, answer } = handling;
  const store = memoryStore({ maxEntries: 10_000, onEvicted: () => undefined });
  // What nobody has signed is signed here: there is one way through the receiver.
  const own = unverified ? generateSecret() : undefined;
  const receiverOf = async () => {
    const secret = own ?? [...(await handling.secrets())];
    const receiver = createReceiver({
      ...{ secret, headerPrefix, toleranceSeconds, store, logger, bodyLimit: BODY_LIMIT },
      on: {
        'call:started': acknowledge,
        'call:completed': acknowledge,
        'call:recording-available': acknowledge,
      },
    });
    return { secret, receiver };
  };

  return async (request) => {
    const { method = '', url: path = '' } = request;
    const time = new Date().toISOString();
    const read = await readRawBody(request, { bodyLimit: BODY_LIMIT, bodyTimeout: 10_000 }).catch(
      (error: unknown) => () => Promise.reject(error instanceof Error ? error : new Error()),
    );
    const body = typeof read === 'function' ? new Uint8Array() : read;
    const { secret, receiver } = await receiverOf();
    const signature = own ? await sign({ secret: own, body, headerPrefix }) : {};
    const headers: Record<string, string | string[] | undefined> = { ...request.headers };
    for (const [name, value] of Object.entries(signature)) headers[name.toLowerCase()] = value;
    const response = await receiver.receive({ method, headers, body: read });
    const { outcome, webhookId, error } = response.outcome;
    const isMismatch = outcome === 'signature-mismatch';
    const found = isMismatch && (await checkSignature({ headers, body }, { secret, headerPrefix }));
    const cause = found && !found.verified ? found.cause : undefined;
    const isAuthentic = webhookId !== undefined;
    const arrival: Arrival = {
      ...{ time, method, path, status: response.status, outcome, ...namesOf(body), body },
      verified: isAuthentic && !unverified,
      problem: isAuthentic ? undefined : (cause ?? error?.message),
      webhookId: unverified ? undefined : webhookId,
    };
    if (isAuthentic && forwardTo !== undefined) {
      const { body, contentType, ...result } = await forward(
        request,
        arrival.body,
        forwardTo,
        handling,
      );
      return { arrival: { ...arrival, ...result }, body, contentType };
    }
    if (answer !== undefined && isAuthentic && outcome !== 'replayed') {
      const told = { ...arrival, status: answer, outcome: 'responded as told' };
      return { arrival: told, body: '{}', contentType: 'application/json' };
    }
    return { arrival, body: response.body, contentType: 'application/json' };
  };
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
  { insecure, signal }: Pick<Handling, 'insecure' | 'signal'>,
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
    return 'The server responded 404, which would pause the rule at once. The service gets a 503. Check the path of --forward-to.';
  if (status === 410)
    return 'The server responded 410, which means "gone". The service gets a 503. Check the path of --forward-to.';
  if (status < 200 || (status >= 300 && status < 400))
    return `The server responded ${String(status)}. The service gets a 503. Use the final URL in --forward-to.`;
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
