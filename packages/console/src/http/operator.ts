import { createHash, timingSafeEqual } from 'node:crypto';
import { WebhookError, type Logger } from '@call-webhooks/core';
import { printable } from '@call-webhooks/core/internal';
import { inTime, logFailure, NoAnswerError } from '../store-calls.ts';
import { RequestError } from './answer.ts';
import type { ConsoleRequest } from './request.ts';

/** A person who may use the console. */
export interface Operator {
  /** The name of this person. It appears on the page and in the log lines of their actions; cut to 200 characters. */
  name: string;
  /** Whether this person may redrive, remove, erase, reveal and reconcile; `true` by default. */
  canWrite?: boolean | undefined;
}

/** Asks the browser for credentials: the request is answered with 401 and this `WWW-Authenticate` header. */
export interface Challenge {
  challenge: string;
}

/**
 * Decides who may use the console. It is called for every request, including those for the page's files, and
 * has 5,000 ms. Returns `true` or an `Operator` to allow the request. Any other value and any error refuse it.
 */
export type Authorize<Raw = never> = (request: ConsoleRequest<Raw>) => Decision | Promise<Decision>;

/** The result of `authorize`: who may use the console, a challenge, or a refusal. */
export type Decision = boolean | Operator | Challenge | null | undefined;

/** A person who was let in. */
export interface KnownOperator {
  readonly name: string | null;
  readonly canWrite: boolean;
}

const MAX_NAME = 200;
/** How long `authorize` may take; milliseconds. */
const AUTHORIZE_MS = 5_000;

/** @throws RequestError `unauthorized`; `unavailable` if `authorize` does not settle */
export async function operatorOf(
  authorize: Authorize,
  request: ConsoleRequest,
  logger: Logger,
): Promise<KnownOperator> {
  let decision: Decision;
  try {
    const asked = Promise.resolve(authorize(request as ConsoleRequest<never>));
    decision = await inTime(asked, AUTHORIZE_MS, 'authorize did not settle');
  } catch (error) {
    logFailure(logger, 'authorize failed, so the request was refused', error);
    if (error instanceof NoAnswerError)
      throw new RequestError('unavailable', 'The access check timed out. Try again.');
    throw refusal();
  }
  if (decision === true) return { name: null, canWrite: true };
  if (typeof decision !== 'object' || decision === null) throw refusal();
  if ('challenge' in decision && isHeaderValue(decision.challenge))
    throw refusal({ status: 401, headers: { 'www-authenticate': decision.challenge } });
  if (!('name' in decision) || typeof decision.name !== 'string' || decision.name === '')
    throw refusal();
  const { name, canWrite = true } = decision;
  return { name: printable(name).slice(0, MAX_NAME), canWrite: (canWrite as unknown) === true };
}

const refusal = (how = {}) =>
  new RequestError('unauthorized', 'You do not have access to this console.', how);

const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x20-\x7e]{1,500}$/.test(value);

const MIN_LENGTH = 16;
const CHALLENGE: Challenge = { challenge: 'Basic realm="call webhooks", charset="UTF-8"' };

/**
 * Creates an `authorize` function that asks for a name and a password (HTTP Basic authentication). Use it
 * behind TLS, if your app has no login.
 * @param passwords the password of each person, by name; at least 16 characters each
 * @throws WebhookError `invalid-options` if there are no names, if a name contains a colon, or if a password
 *   is missing or too short. During `next build`, where secrets are often not set, the error is thrown at the
 *   first request instead.
 * @example authorize: basicAuth({ ada: process.env.CONSOLE_PASSWORD })
 */
export function basicAuth(
  passwords: Readonly<Record<string, string | undefined>>,
): (request: ConsoleRequest) => Operator | Challenge {
  let digests: Map<string, Buffer> | undefined;
  const known = () => (digests ??= checkedDigests(passwords));
  const duringBuild = process.env['NEXT_PHASE'] === 'phase-production-build';
  if (!duringBuild) known();
  const nobody = digest(crypto.randomUUID());
  return ({ headers }) => {
    const [, encoded = ''] =
      /^basic ([\w+/]+={0,2})$/i.exec(headers.get('authorization') ?? '') ?? [];
    const given = Buffer.from(encoded, 'base64').toString();
    const [name = '', ...rest] = given.split(':');
    // The same work for names that nobody has.
    const isRight = timingSafeEqual(digest(rest.join(':')), known().get(name) ?? nobody);
    return isRight && known().has(name) ? { name } : CHALLENGE;
  };
}

function checkedDigests(passwords: Readonly<Record<string, string | undefined>>) {
  const entries = Object.entries(passwords);
  if (entries.length === 0)
    throw wrongPasswords(
      'expected at least one name with its password: { ada: process.env.CONSOLE_PASSWORD }.',
    );
  if (entries.some(([name]) => name.includes(':')))
    throw wrongPasswords(
      'a name cannot contain a colon, because Basic authentication ends the name there.',
    );
  if (entries.some(([, password = '']) => password.length < MIN_LENGTH))
    throw wrongPasswords(
      `expected passwords of at least ${MIN_LENGTH} characters. Is the environment variable set?`,
    );
  return new Map(entries.map(([name, password = '']) => [name, digest(password)]));
}

const wrongPasswords = (problem: string) =>
  new WebhookError('invalid-options', `basicAuth: ${problem}`);

const digest = (text: string) => createHash('sha256').update(text).digest();
