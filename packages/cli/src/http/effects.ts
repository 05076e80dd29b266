import { type OutcomeCode, OUTCOMES } from '@call-webhooks/core';
import type { AttemptSummary } from '@call-webhooks/simulator';
import { environmentError } from '../errors.ts';
import type { PostResult } from './post.ts';

/** What the service does after a response (spec, "Errors"). */
export type Effect = 'acknowledged' | 'pauses-rule' | 'retried';

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

/** When a delivery fails like this, and what to do about it. */
export interface Failure {
  readonly when: string;
  readonly fix: string;
}

const failure = (when: string, fix: string): Failure => ({ when, fix });
const CHECK_HOST = failure('The host name is not known', 'Check the host name, and the network.');

/** By codes of Node: no connection to a receiver was made. */
const UNREACHED: readonly (readonly [code: RegExp, failure: Failure])[] = [
  [/^ECONNREFUSED$/, failure('Nothing listens at the address', 'Start the receiver first.')],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, CHECK_HOST],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/,
    failure('The address is not reached', 'Check the address and the network.'),
  ],
  [
    /EXPIRED|NOT_YET_VALID/,
    failure('The certificate is not valid now', 'Renew it. To test until then, pass --insecure.'),
  ],
  [
    /ALTNAME/,
    failure(
      'The certificate is for another host name',
      'Use the host name of the certificate in the URL. To test, pass --insecure.',
    ),
  ],
  [
    /CERT|SIGNED|SIGNATURE|ISSUER/,
    failure(
      'The certificate is not trusted',
      'Use one that is trusted. On your machine, set NODE_EXTRA_CA_CERTS to a file with it or with that of its authority, or pass --insecure.',
    ),
  ],
  [
    /^EPROTO$|SSL|TLS/,
    failure('The port speaks no TLS', 'If the receiver has no TLS, use http:// in the URL.'),
  ],
  [
    /^HPE_/,
    failure(
      'The port speaks no HTTP',
      'Check the port. If the receiver has TLS, use https:// in the URL.',
    ),
  ],
];

/** There was a connection, but no response. */
const UNANSWERED: typeof UNREACHED = [
  [
    /^ECONNRESET$/,
    failure(
      'The receiver closed the connection before it responded',
      'Read the log of the receiver: it may have crashed. Also check the proxy in front of it.',
    ),
  ],
  [
    /^timeout$/,
    failure(
      'The receiver did not respond in time',
      'Respond first, or set ackWithin. Work that takes longer belongs in a queue.',
    ),
  ],
  [
    /^[A-Z][A-Z\d_]+$|Error$/,
    failure(
      'The connection to the receiver failed',
      'Check the URL of the action, the log of the receiver, and the network.',
    ),
  ],
];

/** What is known of an attempt without a response. @param code of Node, or `timeout` */
export const failureOf = (code: string): Failure | undefined =>
  [...UNREACHED, ...UNANSWERED].find(([pattern]) => pattern.test(code))?.[1];

/**
 * Returns a result from a receiver that was reached.
 * @param isFirst whether it never responded before: closing the connection is no answer then
 * @throws CliError 3 when nothing listens there, or what listens has no TLS, or one that is not trusted
 */
export function requireReached(url: string, result: PostResult, isFirst = false): PostResult {
  if (result.kind !== 'connection-error') return result;
  const { code } = result;
  const unreached = UNREACHED.find(([pattern]) => pattern.test(code))?.[1];
  if (unreached) throw environmentError(`${unreached.when}: ${url} (${code}).`, unreached.fix);
  if (isFirst && code === 'ECONNRESET')
    throw environmentError(
      `${url} closed the connection without a response (${code}).`,
      'If the receiver has TLS, use https:// in the URL. Otherwise, read its log.',
    );
  return result;
}

/** A status that receivers of these packages never send. */
export function foreignStatus(status: number): Failure {
  const when = 'Receivers of these packages never send this status.';
  if (status === 404)
    return failure(
      `${when} It comes from a wrong path, another server, a proxy or the framework.`,
      'Compare the URL of the action with the path of the receiver. Return 503 for unknown paths: a 404 pauses the rule at once.',
    );
  if (status === 410) return failure(when, 'Return 503 instead of 410, which means "gone".');
  if (status >= 300 && status < 400)
    return failure(
      `${when} The spec does not say that the service follows redirects.`,
      'Use the final URL in the action: a redirect is a failed delivery.',
    );
  return failure(when, 'Check what runs between the service and the receiver.');
}

/** Why an attempt failed, for people. */
export interface Cause {
  readonly when: string;
  /** What `explain` knows it by. */
  readonly topic: string;
}

/** The cause of a failed attempt. @returns undefined for one that succeeded or is in flight */
export function causeOf({ result, response, outcome, dropped }: AttemptSummary): Cause | undefined {
  if (!result || !response || result.next === 'acknowledged' || dropped) return undefined;
  if (outcome !== undefined && Object.hasOwn(OUTCOMES, outcome))
    return { when: OUTCOMES[outcome as OutcomeCode].when, topic: outcome };
  if (response.kind !== 'status') {
    const topic = response.kind === 'timeout' ? response.kind : response.code;
    return { when: `${failureOf(topic)?.when ?? 'The connection failed'}.`, topic };
  }
  const { status } = response;
  const isOurs = Object.values(OUTCOMES).some((one) => one.status === status);
  const when = isOurs
    ? `The response names no outcome, so this ${String(status)} comes from your own code, the framework or a proxy.`
    : foreignStatus(status).when;
  return { when, topic: String(status) };
}
