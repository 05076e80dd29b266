import { STATUS, type OutcomeCode } from '@call-webhooks/core';
import { badInput } from '../cli-error.ts';
import { judge, MEANING } from '../http/judgement.ts';
import { closest } from '../input/closest.ts';
import { CODES } from './codes.ts';

/** One explanation, ready to be shown. */
export interface Explained {
  readonly code: string;
  /** Absent for errors that are thrown at the start, and never answered. */
  readonly status: number | null;
  /** What the service makes of it. */
  readonly service: string;
  readonly when: string;
  readonly fix: string;
}

const EXTERNAL: Readonly<Record<number, readonly [when: string, fix: string]>> = {
  404: [
    'Never answered by a receiver of these packages: a wrong path, another program, a proxy, or the framework itself.',
    'Compare the URL of the action with the path of the receiver. Let a catch-all answer 503.',
  ],
  410: ['Never answered by a receiver of these packages.', 'Answer 503 in its place.'],
};

const meaningOf = (status: number): string =>
  MEANING[judge({ kind: 'status', status, headers: {}, body: Buffer.alloc(0), ms: 0 })];

function explained(code: string): Explained {
  const status = STATUS[code as OutcomeCode] as number | undefined;
  const { when, fix } = CODES[code as OutcomeCode];
  return {
    code,
    status: status ?? null,
    service: status === undefined ? 'never answered: thrown at the start' : meaningOf(status),
    when,
    fix,
  };
}

/** What a code, or an HTTP status, means; everything without one. @throws CliError 2 */
export function explain(asked: string | undefined): Explained[] {
  const codes = Object.keys(CODES);
  if (asked === undefined) return codes.map(explained);
  if (Object.hasOwn(CODES, asked)) return [explained(asked)];
  if (/^[1-5]\d\d$/.test(asked)) return ofStatus(Number(asked), codes);
  const near = closest(asked, codes);
  throw badInput(
    `There is no outcome ${asked}.`,
    near === undefined ? 'See all: call-webhooks explain' : `Did you mean ${near}?`,
  );
}

function ofStatus(status: number, codes: readonly string[]): Explained[] {
  const found = codes.map(explained).filter((one) => one.status === status);
  if (found.length > 0) return found;
  const redirect: readonly [string, string] = [
    'A redirect is not followed.',
    'Put the final URL into the action.',
  ];
  const [when, fix] =
    EXTERNAL[status] ??
    (status >= 300 && status < 400
      ? redirect
      : [
          'Not an answer of these packages.',
          'See what stands between the service and the receiver.',
        ]);
  return [{ code: String(status), status, service: meaningOf(status), when, fix }];
}
