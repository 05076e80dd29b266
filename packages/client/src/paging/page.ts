import { ConfigurationError, InvalidResponseError } from '../errors/index.ts';
import { describe, type QueryValue, type RequestSpec } from '../http/request.ts';
import type { JsonResponse } from '../http/transport.ts';
import type { WireNames } from '../wire.ts';
import { findNext } from './cursor.ts';
import { isRecord, pathsTo, valueAt } from '../json-path.ts';

/** One page of a list. */
export interface Page<T> {
  readonly results: readonly T[];
  /** The cursor of the next page. Undefined on the last page. */
  readonly next: string | undefined;
  /** Whether there is another page. */
  readonly hasNext: boolean;
  /** The whole response, as it came. */
  readonly raw: unknown;
}

/** The options of every list. */
export interface PageOptions {
  /** The `next` cursor of the page before. */
  readonly next?: string | undefined;
  /** The page size, 1 or more. A guess: the spec shows none. Sent as `wire.limitParam`. */
  readonly limit?: number | undefined;
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Where the records of a list are, and the setting of `wire` that changes it. */
export interface ListField {
  readonly path: string;
  readonly setting?: 'callsField';
}

/**
 * Builds the query parameters of a page.
 *
 * @throws {ConfigurationError} if `limit` is not a page size
 */
export function pageQuery(
  { next, limit }: PageOptions,
  wire: Pick<WireNames, 'nextParam' | 'limitParam'>,
): Record<string, QueryValue> {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw new ConfigurationError('limit must be a whole number, 1 or more');
  }
  return { [wire.nextParam]: next, [wire.limitParam]: limit };
}

/**
 * Reads one page. A bare array is a page too; only a `Link` header can give it a next one.
 *
 * @throws {InvalidResponseError} if the response has no array of records, or announces another page
 * that cannot be asked for. The message names the setting of `wire` to change.
 */
export function readPage<T>(
  spec: RequestSpec,
  response: JsonResponse,
  field: ListField,
  wire: Pick<WireNames, 'nextField' | 'hasNextField' | 'nextParam'>,
): Page<T> {
  const raw = response.value;
  const results = Array.isArray(raw) ? (raw as unknown[]) : valueAt(raw, field.path);
  if (!Array.isArray(results)) throw noResults(spec, raw, field);
  if (!results.every(isRecord)) {
    throw new InvalidResponseError(`${describe(spec)}: some results are not objects`);
  }
  return { results: results as T[], ...findNext(spec, response, wire), raw };
}

function noResults(spec: RequestSpec, raw: unknown, { path, setting }: ListField): Error {
  const message = `${describe(spec)}: the response has no array "${path}"`;
  if (setting === undefined) return new InvalidResponseError(message);
  const others = pathsTo(raw, (value) => Array.isArray(value) && value.every(isRecord));
  const found = others.map((other) => `"${other}"`).join(' or ');
  return new InvalidResponseError(
    `${message} of records. Set wire.${setting} to the field that holds them${
      found === '' ? '' : `, perhaps ${found}`
    }`,
  );
}

/**
 * Yields the results of all pages. A page is requested when its first result is needed, never
 * earlier.
 *
 * @throws {InvalidResponseError} if the service repeats a cursor: going on would never end, and
 * ending would lose the pages after it
 */
export async function* iteratePages<T, O extends PageOptions>(
  options: O,
  fetchPage: (options: O) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  const used = new Set<string>();
  let current: O = options;
  for (;;) {
    if (current.next !== undefined) used.add(current.next);
    const page = await fetchPage(current);
    yield* page.results;
    // The consumer may have paused for long between two results.
    options.signal?.throwIfAborted();
    if (!page.hasNext || page.next === undefined) return;
    if (used.has(page.next)) {
      throw new InvalidResponseError(
        'the next page cannot be requested: the service repeats a cursor, so it may have ignored it. ' +
          'Set wire.nextParam to the query parameter that the service reads the cursor from',
      );
    }
    current = { ...options, next: page.next };
  }
}
