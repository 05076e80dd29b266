import { type OutcomeCode, OUTCOMES } from '@call-webhooks/core';
import { outcomeNamedIn } from '@call-webhooks/core/internal';
import type { AttemptSummary } from '@call-webhooks/simulator';
import { environmentError } from '../errors.ts';
import type { PostResult } from './post.ts';

/** What the service does after a response (spec, "Errors"). */
type Effect = 'acknowledged' | 'pauses-rule' | 'retried';

/** The effect of a status. */
export function effectOfStatus(status: number): Effect {
  if (status >= 200 && status < 300) return 'acknowledged';
  return status === 404 ? 'pauses-rule' : 'retried';
}

/** The effect of a result. */
export const effectOf = (result: PostResult): Effect =>
  result.kind === 'status' ? effectOfStatus(result.status) : 'retried';

/** An effect in words. */
export const EFFECT_TEXT: Readonly<Record<Effect, string>> = {
  acknowledged: 'acknowledged',
  'pauses-rule': 'the service would pause the rule at once',
  retried: 'the service would retry in about 5 minutes',
};

/** A result in a few words. */
export function describeResult(result: PostResult): string {
  if (result.kind === 'timeout') return 'no response in time';
  return result.kind === 'status' ? String(result.status) : result.code;
}

/** The outcome that a receiver of these packages names in its response, if it is one of theirs. */
export const outcomeOf = (result: PostResult): OutcomeCode | undefined =>
  result.kind === 'status'
    ? outcomeNamedIn(result.status, result.body.toString('utf8'))
    : undefined;

/** When a delivery fails like this, and what to do about it. */
interface Failure {
  readonly when: string;
  readonly fix: string;
}

type KnownFailure = readonly [code: RegExp, when: string, fix: string];

/** By codes of Node: no connection to a receiver was made. */
const UNREACHED: readonly KnownFailure[] = [
  [/^ECONNREFUSED$/, 'Nothing is listening at the address', 'Start the receiver first.'],
  [
    /^(?:ENOTFOUND|EAI_AGAIN)$/,
    'The host name cannot be resolved',
    'Check the host name, and the network.',
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/,
    'The address cannot be reached',
    'Check the address and the network.',
  ],
  [
    /EXPIRED|NOT_YET_VALID/,
    'The certificate is not valid at this time',
    'Renew the certificate. To test until then, pass --insecure.',
  ],
  [
    /ALTNAME/,
    'The certificate is for another host name',
    'Use the host name of the certificate in the URL. To test, pass --insecure.',
  ],
  [
    /CERT|SIGNED|SIGNATURE|ISSUER/,
    'The certificate is not trusted',
    'Use a trusted certificate. On your machine, set NODE_EXTRA_CA_CERTS to a file with the certificate or that of its authority, or pass --insecure.',
  ],
  [
    /^EPROTO$|SSL|TLS/,
    'The server does not use TLS on this port',
    'If the receiver does not use TLS, use http:// in the URL.',
  ],
  [
    /^HPE_/,
    'The server does not speak HTTP on this port',
    'Check the port. If the receiver uses TLS, use https:// in the URL.',
  ],
];

/** There was a connection, but no response. */
const UNANSWERED: readonly KnownFailure[] = [
  [
    /^ECONNRESET$/,
    'The receiver closed the connection before it responded',
    "Read the receiver's log, because it may have crashed. Also check the proxy in front of it.",
  ],
  [
    /^timeout$/,
    'The receiver did not respond in time',
    'Respond sooner, or set ackWithin. Move work that takes longer to a queue.',
  ],
  [
    /^[A-Z][A-Z\d_]+$|Error$/,
    'The connection to the receiver failed',
    "Check the URL of the action, the receiver's log, and the network.",
  ],
];

/** What is known of an attempt without a response. @param code of Node, or `timeout` */
export function failureOf(code: string): Failure | undefined {
  const found = [...UNREACHED, ...UNANSWERED].find(([pattern]) => pattern.test(code));
  return found && { when: `${found[1]}.`, fix: found[2] };
}

/**
 * Returns a result from a receiver that was reached.
 * @param isFirst whether it never responded before: closing the connection is no answer then
 * @param note what else there is to say if it was not reached
 * @throws CliError 3 when nothing listens there, or what listens has no TLS, or one that is not trusted
 */
export function requireReached(
  url: string,
  result: PostResult,
  isFirst = false,
  note = '',
): PostResult {
  if (result.kind !== 'connection-error') return result;
  const { code } = result;
  const unreached = UNREACHED.find(([pattern]) => pattern.test(code));
  if (unreached) throw environmentError(`${unreached[1]}: ${url} (${code}).${note}`, unreached[2]);
  if (isFirst && code === 'ECONNRESET')
    throw environmentError(
      `${url} closed the connection without a response (${code}).`,
      "If the receiver uses TLS, use https:// in the URL. Otherwise, read the receiver's log.",
    );
  return result;
}

/**
 * Why a response is none of a receiver, but of what stands in front of it or in its place: a sign-in wall,
 * the warning page of a tunnel, or a single-page app that responds to every path.
 */
export function notOfReceiver(url: string, result: PostResult): Failure | undefined {
  if (result.kind !== 'status') return undefined;
  const { status, headers, body } = result;
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, url)) {
    const to = new URL(location, url);
    const isElsewhere = to.hostname !== new URL(url).hostname;
    if (!isElsewhere && !SIGN_IN.test(to.pathname)) return undefined;
    return {
      when: `It redirects to ${to.origin}${to.pathname}, which ${isElsewhere ? 'is another server' : 'looks like a sign-in page'}.`,
      fix: "Allow requests to the receiver's path without signing in: the signature protects the receiver. Do not use the other URL in the action, because it is not the receiver.",
    };
  }
  // By the body: PHP, Flask and others label every response as HTML, also an empty one.
  const isPage = /^\s*<(?:!doctype html|html)\b/i.test(body.toString('latin1', 0, 500));
  // Other statuses, such as a 404, have explanations of their own.
  if (!isPage || !(status < 300 || status === 401 || status === 403)) return undefined;
  return {
    when: `It returns ${String(status)} with a web page, which no receiver does. A sign-in page, the warning page of a tunnel or a single-page app is responding instead of the receiver.`,
    fix: "Let the proxy, the tunnel or the app pass requests to the receiver's path on to the receiver, and check the path.",
  };
}

const SIGN_IN =
  /(?:^|[/._-])(?:log[-_]?in|sign[-_]?in|auth|oauth2?|sso|saml|session|account)(?:$|[/._-])/i;

/** A status that receivers of these packages never send. */
export function foreignStatus(status: number): Failure {
  const when = 'Receivers of these packages never send this status.';
  if (status === 404)
    return {
      when: `${when} It comes from a wrong path, another server, a proxy or the framework.`,
      fix: "Compare the URL of the action with the receiver's path. Return 503 for unknown paths: a 404 pauses the rule at once.",
    };
  if (status === 410) return { when, fix: 'Return 503 instead of 410, which means "gone".' };
  if (status >= 300 && status < 400)
    return {
      when: `${when} The service is not documented to follow redirects.`,
      fix: 'Use the final URL in the action: a redirect is a failed delivery.',
    };
  return { when, fix: 'Check what runs between the service and the receiver.' };
}

/** Why an attempt failed, for people. */
interface Cause {
  readonly when: string;
  /** What `explain` knows it by. */
  readonly topic: string;
}

/** The cause of a failed attempt. @returns undefined for one that succeeded or is in flight */
export function attemptFailure({
  result,
  response,
  outcome,
  dropped,
}: AttemptSummary): Cause | undefined {
  if (!result || !response || result.next === 'acknowledged' || dropped) return undefined;
  if (outcome !== undefined && Object.hasOwn(OUTCOMES, outcome))
    return { when: OUTCOMES[outcome as OutcomeCode].when, topic: outcome };
  if (response.kind !== 'status') {
    const topic = response.kind === 'timeout' ? response.kind : response.code;
    return { when: failureOf(topic)?.when ?? 'The connection failed.', topic };
  }
  const { status } = response;
  const isOurs = Object.values(OUTCOMES).some((one) => one.status === status);
  const when = isOurs
    ? `The response names no outcome, so this ${String(status)} comes from your own code, the framework or a proxy.`
    : foreignStatus(status).when;
  return { when, topic: String(status) };
}
