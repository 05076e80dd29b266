import { waitAtMost } from '@call-webhooks/core/internal';
import { invalid } from '../http/query.ts';

/** The longest that a request waits for what it has started; milliseconds. */
const MAX_WAIT_MS = 20_000;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Types {
  string: string;
  number: number;
  boolean: boolean;
}

/** @throws RequestError `invalid-request` for a value of another type */
export function optional<Type extends keyof Types>(
  value: unknown,
  type: Type,
  name: string,
): Types[Type] | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== type) throw invalid(`${name}: expected a ${type}`);
  return value as Types[Type];
}

/** @throws RequestError `invalid-request` */
export function required<Type extends keyof Types>(
  value: unknown,
  type: Type,
  name: string,
): Types[Type] {
  const given = optional(value, type, name);
  if (given === undefined) throw invalid(`${name}: it is missing`);
  return given;
}

/**
 * How a request waits for what it starts, as its `waitMs` says.
 * @throws RequestError `invalid-request`
 */
export function waitFor({
  waitMs,
}: Readonly<Record<string, unknown>>): (done: Promise<void>) => Promise<void> {
  const ms = optional(waitMs, 'number', 'waitMs') ?? 0;
  if (!(ms >= 0 && ms <= MAX_WAIT_MS)) throw invalid(`waitMs: expected 0 to ${MAX_WAIT_MS}`);
  return (done) => waitAtMost(ms, done);
}
