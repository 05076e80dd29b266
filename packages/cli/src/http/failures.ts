import { OUTCOMES, type OutcomeCode } from '@call-webhooks/core';
import type { AttemptSummary } from '@call-webhooks/simulator';

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
