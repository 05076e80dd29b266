import type { IncomingMessage } from 'node:http';
import { described } from '../http/judgement.ts';
import { send, type Answer } from '../http/post.ts';
import type { Forwarded } from './arrival.ts';

/** Below the 30 seconds of the service, so that it gets our answer. */
const PATIENCE_MS = 28_000;
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

/** All headers as they came, in their case and number, but for those of the connection. */
export function passedOn({ rawHeaders, headers }: IncomingMessage): Record<string, string[]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/));
  // Without a prototype: a header may be called `constructor`.
  const passed = Object.create(null) as Record<string, string[]>;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || named.has(key)) continue;
    (passed[name] ??= []).push(value);
  }
  return passed;
}

/** What the caller of `listen` gets, and what happened behind. */
export interface Passed {
  readonly status: number;
  readonly outcome: string;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly forwarded: Forwarded;
}

/**
 * Hands a delivery on: the raw bytes and the signature headers as they came, so that the server
 * behind can verify it itself. A 404, a 410 or a redirect of that server becomes a 503, because
 * passing it on would pause the real rule, or lose the delivery.
 */
export async function forward(
  request: IncomingMessage,
  body: Uint8Array,
  url: string,
  signal: AbortSignal,
): Promise<Passed> {
  const answer = await send(
    { url, headers: passedOn(request), body, timeout: PATIENCE_MS },
    signal,
  );
  const warning = warningOf(answer);
  const forwarded = { url, answer: described(answer), ms: answer.ms, warning };
  if (answer.kind !== 'status' || warning !== undefined)
    return {
      status: 503,
      outcome: warning === undefined ? 'not forwarded' : 'answer held back',
      body: Buffer.from('{"outcome":"forwarding-failed"}'),
      contentType: 'application/json',
      forwarded,
    };
  const { status, headers } = answer;
  return {
    status,
    outcome: 'forwarded',
    body: answer.body,
    contentType: headers['content-type'],
    forwarded,
  };
}

function warningOf(answer: Answer): string | undefined {
  if (answer.kind !== 'status') return undefined;
  const { status } = answer;
  if (status === 404)
    return 'The server answered 404. Passed on, it would pause the rule at once, so the service gets a 503. Check the path of --forward-to.';
  if (status === 410)
    return 'The server answered 410, which says that the URL is gone for good. The service gets a 503.';
  if (status < 200 || (status >= 300 && status < 400))
    return `The server answered ${String(status)}, and redirects are not followed. The service gets a 503. Use the final URL in --forward-to.`;
  return undefined;
}
