import { describe, expect, test } from '@jest/globals';
import {
  describeResult,
  effectOf,
  effectOfStatus,
  failureOf,
  foreignStatus,
  notOfReceiver,
  requireReached,
} from '../src/http/effects.ts';
import type { PostResult } from '../src/http/post.ts';

// What each result of a delivery means to the service, and to the person who looks at it.

const status = (number: number, body = '', headers: Record<string, string> = {}): PostResult => ({
  ...{ kind: 'status', status: number, headers, body: Buffer.from(body), ms: 1 },
});
const failed = (code: string): PostResult => ({ kind: 'connection-error', code, ms: 1 });
const TIMEOUT: PostResult = { kind: 'timeout', ms: 1 };

test.each<[PostResult, effect: string, words: string]>([
  [status(199), 'retried', '199'],
  [status(200), 'acknowledged', '200'],
  [status(299), 'acknowledged', '299'],
  [status(300), 'retried', '300'],
  [status(404), 'pauses-rule', '404'],
  [status(403), 'retried', '403'],
  [status(405), 'retried', '405'],
  [status(410), 'retried', '410'],
  [status(500), 'retried', '500'],
  [TIMEOUT, 'retried', 'no response in time'],
  [failed('ECONNRESET'), 'retried', 'ECONNRESET'],
])('%j is %s', (result, effect, words) => {
  expect([effectOf(result), describeResult(result)]).toEqual([effect, words]);
  if (result.kind === 'status') expect(effectOfStatus(result.status)).toBe(effect);
});

const NOBODY = ['Nothing is listening at the address', 'Start the receiver first.'];
const NAME = ['The host name cannot be resolved', 'Check the host name, and the network.'];
const NET = ['The address cannot be reached', 'Check the address and the network.'];
const PERIOD = [
  'The certificate is not valid at this time',
  'Renew the certificate. To test until then, pass --insecure.',
];
const OTHER_HOST = [
  'The certificate is for another host name',
  'Use the host name of the certificate in the URL. To test, pass --insecure.',
];
const TRUST = [
  'The certificate is not trusted',
  'Use a trusted certificate. On your machine, set NODE_EXTRA_CA_CERTS to a file with the certificate or that of its authority, or pass --insecure.',
];
const NO_TLS = [
  'The server does not use TLS on this port',
  'If the receiver does not use TLS, use http:// in the URL.',
];
const NO_HTTP = [
  'The server does not speak HTTP on this port',
  'Check the port. If the receiver uses TLS, use https:// in the URL.',
];
const CLOSED = [
  'The receiver closed the connection before it responded',
  "Read the receiver's log, because it may have crashed. Also check the proxy in front of it.",
];
const LATE = [
  'The receiver did not respond in time',
  'Respond sooner, or set ackWithin. Move work that takes longer to a queue.',
];
const ANY = [
  'The connection to the receiver failed',
  "Check the URL of the action, the receiver's log, and the network.",
];

const UNREACHED: [code: string, told: string[]][] = [
  ['ECONNREFUSED', NOBODY],
  ['ENOTFOUND', NAME],
  ['EAI_AGAIN', NAME],
  ['EHOSTUNREACH', NET],
  ['ENETUNREACH', NET],
  ['ETIMEDOUT', NET],
  ['CERT_HAS_EXPIRED', PERIOD],
  ['CERT_NOT_YET_VALID', PERIOD],
  ['ERR_TLS_CERT_ALTNAME_INVALID', OTHER_HOST],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', TRUST],
  ['SELF_SIGNED_CERT_IN_CHAIN', TRUST],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', TRUST],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', TRUST],
  ['EPROTO', NO_TLS],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['HPE_INVALID_CONSTANT', NO_HTTP],
];
const UNANSWERED: [code: string, told: string[]][] = [
  ['ECONNRESET', CLOSED],
  ['timeout', LATE],
  ['EPIPE', ANY],
  ['ERR_SOCKET_CLOSED', ANY],
  ['TypeError', ANY],
];

describe('a failure', () => {
  test.each([...UNREACHED, ...UNANSWERED])('%s', (code, [when, fix]) => {
    expect(failureOf(code)).toEqual({ when: `${when}.`, fix });
  });

  test.each(['', 'Timeout', 'what ever', 'econnreset'])('%j is not known', (code) => {
    expect(failureOf(code)).toBeUndefined();
  });

  const URL = 'http://127.0.0.1:3000/hook';
  test.each(UNREACHED)('%s: no receiver was reached', (code, [when, fix]) => {
    const thrown = () => requireReached(URL, failed(code), false, ' More.');
    expect(thrown).toThrow(
      expect.objectContaining({ exitCode: 3, message: `${when}: ${URL} (${code}). More.`, fix }),
    );
  });

  test('of one that was reached is a result, but none that is closed at first', () => {
    for (const result of [status(500), TIMEOUT, ...UNANSWERED.map(([code]) => failed(code))])
      expect(requireReached(URL, result)).toBe(result);
    for (const result of [status(500), TIMEOUT, failed('EPIPE')])
      expect(requireReached(URL, result, true)).toBe(result);
    expect(() => requireReached(URL, failed('ECONNRESET'), true)).toThrow(
      expect.objectContaining({
        ...{
          exitCode: 3,
          message: `${URL} closed the connection without a response (ECONNRESET).`,
        },
        fix: "If the receiver uses TLS, use https:// in the URL. Otherwise, read the receiver's log.",
      }),
    );
  });
});

describe('what stands in front of a receiver, or in its place', () => {
  const URL = 'https://hooks.example.com/hook';
  const PAGE = ' \n<!DOCTYPE html><p>';
  test.each<[PostResult, what: string | undefined]>([
    [
      status(302, '', { location: 'https://login.example.net/?next=hook' }),
      'https://login.example.net/, which is another server',
    ],
    [status(302, '', { location: 'http://hooks.example.com:8080/hook/' }), undefined],
    [status(302, '', { location: '/hook/' }), undefined],
    [
      status(307, '', { location: '/users/sign_in' }),
      'https://hooks.example.com/users/sign_in, which looks like a sign-in page',
    ],
    [
      status(301, '', { location: '/oauth2/start' }),
      'https://hooks.example.com/oauth2/start, which looks like a sign-in page',
    ],
    [status(302, '', { location: '/authors' }), undefined],
    [status(302, '', { location: 'http://[' }), undefined],
    [status(302), undefined],
    [status(200, PAGE), '200 with a web page'],
    [status(299, '<HTML lang="de">'), '299 with a web page'],
    [status(401, PAGE), '401 with a web page'],
    [status(403, PAGE), '403 with a web page'],
    [status(402, PAGE), undefined],
    [status(404, PAGE), undefined],
    [status(500, PAGE), undefined],
    [status(200, '', { 'content-type': 'text/html' }), undefined],
    [status(200, '<htmlx>'), undefined],
    [status(200, '{"a":"<html>"}'), undefined],
    [TIMEOUT, undefined],
  ])('%j', (result, what) => {
    const found = notOfReceiver(URL, result);
    expect(found?.when.includes(String(what)) ?? false).toBe(what !== undefined);
    if (found) expect(found.fix).toMatch(/^(Allow requests to|Let the proxy)/);
  });
});

test.each([
  [404, /^It comes from a wrong path/, /^Compare the URL of the action/],
  [410, /^$/, /^Return 503 instead of 410/],
  [300, /^The service is not documented to follow/, /^Use the final URL/],
  [399, /^The service is not documented to follow/, /^Use the final URL/],
  [299, /^$/, /^Check what runs between/],
  [418, /^$/, /^Check what runs between/],
])('a foreign %d', (number, more, fix) => {
  const found = foreignStatus(number);
  const start = 'Receivers of these packages never send this status.';
  expect(found.when.slice(0, start.length)).toBe(start);
  expect(found.when.slice(start.length).trim()).toMatch(more);
  expect(found.fix).toMatch(fix);
});
