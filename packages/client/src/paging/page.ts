import { ConfigurationError, InvalidResponseError } from '../errors/index.ts';
import type { QueryValue } from '../http/request.ts';
import type { WireNames } from '../wire.ts';

/** One page of a list. */
export interface Page<T> {
  readonly results: readonly T[];
  /** The cursor of the next page; undefined when there is none. */
  readonly next: string | undefined;
  /** Whether another page is worth asking for. */
  readonly hasNext: boolean;
  /** The whole answer, as it came. */
  readonly raw: unknown;
}

/** What every list accepts. */
export interface PageOptions {
  /** The `next` cursor of the page before. */
  readonly next?: string | undefined;
  /** The page size, from 1 on. The spec shows none; sent as `wire.limitParam`, unconfirmed. */
  readonly limit?: number | undefined;
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The query parameters of a page.
 *
 * @throws {ConfigurationError} for a page size that is none
 */
export function pageQuery(
  { next, limit }: PageOptions,
  wire: Pick<WireNames, 'nextParam' | 'limitParam'>,
): Record<string, QueryValue> {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw new ConfigurationError('limit must be a whole number from 1 on');
  }
  return { [wire.nextParam]: next, [wire.limitParam]: limit };
}

function at(value: unknown, path: string): unknown {
  let current = value;
  for (const key of path.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key))
      return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

function cursorOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads one page. An answer that is a bare array is a page without a next one.
 *
 * @throws {InvalidResponseError} when there is no array of results, or it holds something other than
 * records
 */
export function readPage<T>(
  raw: unknown,
  request: string,
  resultsField: string,
  wire: Pick<WireNames, 'nextField' | 'hasNextField'>,
): Page<T> {
  const results = Array.isArray(raw) ? (raw as unknown[]) : at(raw, resultsField);
  if (!Array.isArray(results)) {
    throw new InvalidResponseError(`${request}: the answer has no array "${resultsField}"`);
  }
  if (!results.every(isRecord)) {
    throw new InvalidResponseError(`${request}: not all results are objects`);
  }
  const next = cursorOf(at(raw, wire.nextField));
  const hasNext = next !== undefined && at(raw, wire.hasNextField) !== false;
  return { results: results as T[], next, hasNext, raw };
}
