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

const START = 'Start the receiver first.';
const CHECK_NAME = 'Check the host name.';
const CHECK_ADDRESS = 'Check the address and the network.';

/** The errors that mean no connection was made, each with its fix. */
const UNREACHABLE: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', START],
  ['ENOTFOUND', CHECK_NAME],
  ['EAI_AGAIN', CHECK_NAME],
  ['EHOSTUNREACH', CHECK_ADDRESS],
  ['ENETUNREACH', CHECK_ADDRESS],
  ['ETIMEDOUT', CHECK_ADDRESS],
]);

const TRUST =
  'Set NODE_EXTRA_CA_CERTS to a file with its certificate or that of its authority, or pass --insecure.';
const RENEW = 'Renew the certificate, or pass --insecure.';

/** The errors of TLS and of what is no HTTP, each with what is wrong and its fix. */
const SPOKE_OTHERWISE: readonly (readonly [code: RegExp, what: string, fix: string])[] = [
  [/EXPIRED|NOT_YET_VALID/, 'The certificate is not valid now', RENEW],
  [
    /ALTNAME/,
    'The certificate is for another host name',
    'Use the host name of the certificate in the URL, or pass --insecure.',
  ],
  [/CERT|SIGNED|SIGNATURE|ISSUER/, 'The certificate is not trusted', TRUST],
  [
    /^EPROTO$|SSL|TLS/,
    'The port speaks no TLS',
    'If the receiver has no TLS, use http:// in the URL.',
  ],
  [
    /^HPE_/,
    'The port speaks no HTTP',
    'Check the port. If the receiver has TLS, use https:// in the URL.',
  ],
];

/**
 * Returns a result from a receiver that was reached.
 * @param isFirst whether it never responded before: closing the connection is no answer then
 * @throws CliError 3 when nothing listens there, or what listens has no TLS, or one that is not trusted
 */
export function requireReached(url: string, result: PostResult, isFirst = false): PostResult {
  if (result.kind !== 'connection-error') return result;
  const { code } = result;
  const fix = UNREACHABLE.get(code);
  if (fix !== undefined) throw environmentError(`Nothing listens at ${url} (${code}).`, fix);
  if (isFirst && code === 'ECONNRESET')
    throw environmentError(
      `${url} closed the connection without a response (${code}).`,
      'If the receiver has TLS, use https:// in the URL. Otherwise, read its log.',
    );
  const other = SPOKE_OTHERWISE.find(([pattern]) => pattern.test(code));
  if (other) throw environmentError(`${other[1]}: ${url} (${code}).`, other[2]);
  return result;
}

/** When a delivery fails like this, and what to do about it. */
export interface Failure {
  readonly when: string;
  readonly fix: string;
}

/** Failures without a response. `explain` knows them by these names. */
export const NO_RESPONSE: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: {
    when: 'Nothing listens at the URL of the receiver.',
    fix: 'Start the receiver. If it listens elsewhere: call-webhooks rules create --url URL',
  },
  ECONNRESET: {
    when: 'The receiver closed the connection before it responded.',
    fix: 'Read the log of the receiver: it may have crashed. Also check the proxy in front of it.',
  },
  ENOTFOUND: {
    when: 'The host name of the URL does not exist.',
    fix: 'Check the host name in the URL of the action.',
  },
  EAI_AGAIN: {
    when: 'The host name of the URL could not be looked up.',
    fix: 'Check the network and the name server.',
  },
  timeout: {
    when: 'The receiver did not respond in time.',
    fix: 'Respond first, or set ackWithin. Work that takes longer belongs in a queue.',
  },
};

const CONNECTION = 'The connection to the receiver failed.';

/** Failures of many codes, by what their names have in common. */
const KINDS: readonly (readonly [name: RegExp, failure: Failure])[] = [
  [
    /CERT|TLS|SSL|SIGNED|SIGNATURE|^EPROTO$/,
    {
      when: 'The TLS connection to the receiver failed.',
      fix: 'Check the certificate of the receiver: its name, its dates, and who signed it. If the receiver has no TLS, use http:// in the URL.',
    },
  ],
  [
    /^HPE_/,
    {
      when: 'The response is not valid HTTP.',
      fix: 'Check that the port in the URL belongs to the receiver. If the receiver has TLS, use https://.',
    },
  ],
  [
    /^[A-Z][A-Z\d_]+$|Error$/,
    {
      when: CONNECTION,
      fix: 'Check the URL of the action, the log of the receiver, and the network.',
    },
  ],
];

/** What is known of an attempt without a response. @param code of Node.js, or `timeout` */
export const failureOf = (code: string): Failure | undefined =>
  Object.hasOwn(NO_RESPONSE, code)
    ? NO_RESPONSE[code]
    : KINDS.find(([name]) => name.test(code))?.[1];

/** A status that receivers of these packages never send. */
export function foreignStatus(status: number): Failure {
  const when = 'Receivers of these packages never send this status.';
  if (status === 404)
    return {
      when: `${when} It comes from a wrong path, another server, a proxy or the framework.`,
      fix: 'Compare the URL of the action with the path of the receiver. Return 503 for unknown paths.',
    };
  if (status === 410) return { when, fix: 'Return 503 instead of 410, which means "gone".' };
  if (status >= 300 && status < 400)
    return {
      when: `${when} The spec does not say that the service follows redirects.`,
      fix: 'Use the final URL in the action.',
    };
  return { when, fix: 'Check what runs between the service and the receiver.' };
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
  if (outcome !== undefined && isOutcome(outcome))
    return { when: OUTCOMES[outcome].when, topic: outcome };
  if (response.kind === 'timeout') return noResponse('timeout');
  return response.kind === 'status' ? ofStatus(response.status) : noResponse(response.code);
}

const isOutcome = (code: string): code is OutcomeCode => Object.hasOwn(OUTCOMES, code);

const noResponse = (code: string): Cause => ({
  when: failureOf(code)?.when ?? CONNECTION,
  topic: code,
});

function ofStatus(status: number): Cause {
  const ours = (Object.keys(OUTCOMES) as OutcomeCode[]).some(
    (code) => OUTCOMES[code].status === status,
  );
  const when = ours
    ? `The response names no outcome, so this ${String(status)} comes from your own code, the framework or a proxy.`
    : foreignStatus(status).when;
  return { when, topic: String(status) };
}
