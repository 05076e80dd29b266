import type { IncomingMessage } from 'node:http';
import { describeResult } from '../../http/effect.ts';
import { post, type PostResult } from '../../http/post.ts';
import type { Forwarded } from './arrival.ts';

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
export interface ForwardResult {
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
export async function forward(
  request: IncomingMessage,
  body: Uint8Array,
  url: string,
  signal: AbortSignal,
): Promise<ForwardResult> {
  const headers = headersToForward(request);
  const result = await post({ url, headers, body, timeout: TIMEOUT_MS }, signal);
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
