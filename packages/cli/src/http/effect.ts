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
 * @param isFirst whether it never answered before: closing the connection is no answer then
 * @throws CliError 3 when nothing listens there, or what listens has no TLS, or one that is not trusted
 */
export function requireReached(url: string, result: PostResult, isFirst = false): PostResult {
  if (result.kind !== 'connection-error') return result;
  const { code } = result;
  const fix = UNREACHABLE.get(code);
  if (fix !== undefined) throw environmentError(`Nothing listens at ${url} (${code}).`, fix);
  if (isFirst && code === 'ECONNRESET')
    throw environmentError(
      `${url} closed the connection without an answer (${code}).`,
      'If the receiver has TLS, use https:// in the URL. Otherwise, read its log.',
    );
  const other = SPOKE_OTHERWISE.find(([pattern]) => pattern.test(code));
  if (other) throw environmentError(`${other[1]}: ${url} (${code}).`, other[2]);
  return result;
}
