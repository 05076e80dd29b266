import { createHash, timingSafeEqual } from 'node:crypto';
import { WebhookError } from '@call-webhooks/core';
import type { ConsoleRequest } from './request.ts';
import type { Challenge, Operator } from './operator.ts';

const MIN_LENGTH = 16;
const CHALLENGE: Challenge = { challenge: 'Basic realm="call webhooks", charset="UTF-8"' };

/**
 * An `authorize` that asks for a name and a password, for a console behind TLS without a login of its own.
 * @param passwords by the names of those who may see the console; at least 16 characters each
 * @throws WebhookError `invalid-options` without names, for a name with a colon, and for a password that is
 *   missing or short. During `next build`, where secrets are often not set, the error waits for the first
 *   request.
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
    throw invalid('expected a name and its password: { ada: process.env.CONSOLE_PASSWORD }.');
  if (entries.some(([name]) => name.includes(':')))
    throw invalid('a name cannot have a colon, since Basic authentication ends names with one.');
  if (entries.some(([, password = '']) => password.length < MIN_LENGTH))
    throw invalid(
      `expected passwords of at least ${MIN_LENGTH} characters. Is the environment variable set?`,
    );
  return new Map(entries.map(([name, password = '']) => [name, digest(password)]));
}

const invalid = (problem: string) => new WebhookError('invalid-options', `basicAuth: ${problem}`);

const digest = (text: string) => createHash('sha256').update(text).digest();
