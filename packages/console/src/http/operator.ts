import type { Logger } from '@call-webhooks/core';
import { inTime, logFailure, TimeoutError } from '../store-calls.ts';
import { RequestError } from './answer.ts';
import type { ConsoleRequest } from './request.ts';

/** Who uses the console. */
export interface Operator {
  /** For the log lines of what this person does. */
  name: string;
  /** Whether this person may redrive, remove, reveal and reconcile; `true` by default. */
  canWrite?: boolean | undefined;
}

/** Asks for credentials: answered 401, with this value of `WWW-Authenticate`. */
export interface Challenge {
  challenge: string;
}

/**
 * Whether a request may see the console, and who it is. Called for every request, also for the page's
 * files. Anything but `true` or an operator is a refusal, and so is what it throws.
 */
export type Authorize<Raw = never> = (request: ConsoleRequest<Raw>) => Decision | Promise<Decision>;

/** What `authorize` answers. */
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
    logFailure(logger, 'authorize failed, so nobody is let in', error);
    if (error instanceof TimeoutError)
      throw new RequestError('unavailable', 'Nobody could tell in time whether you may see this.');
    throw refusal();
  }
  if (decision === true) return { name: null, canWrite: true };
  if (typeof decision !== 'object' || decision === null) throw refusal();
  if ('challenge' in decision && isHeaderValue(decision.challenge))
    throw refusal({ status: 401, headers: { 'www-authenticate': decision.challenge } });
  if (!('name' in decision) || typeof decision.name !== 'string' || decision.name === '')
    throw refusal();
  const { name, canWrite = true } = decision;
  return { name: printable(name), canWrite: (canWrite as unknown) === true };
}

const refusal = (how = {}) =>
  new RequestError('unauthorized', 'You are not allowed to see this console.', how);

const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x20-\x7e]{1,500}$/.test(value);

/** On one line, so that no name can forge a log line. */
const printable = (name: string) =>
  name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?').slice(0, MAX_NAME);
