import { ConfigurationError, type ApiError } from './errors.ts';
import { endpoint, invalidResponse, type QueryValue, type RequestSpec } from './http/exchange.ts';
import type { JsonResponse, Transport } from './http/transport.ts';
import { isRecord, pathsTo, valueAt } from './json-path.ts';
import { defaultWireNames, type Settings, type WireNames } from './options.ts';

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

/** A list endpoint of the service. */
export interface ListEndpoint<O> {
  readonly path: '/events' | '/calls';
  /** Where the records are in a response; may be a path. */
  readonly field: string;
  /** The setting of `wire` that changes `field`, if there is one. */
  readonly setting?: 'callsField';
  /** Query parameters besides those of the page. */
  readonly query: (options: O) => Readonly<Record<string, QueryValue>>;
}

/** A list, page by page or record by record. */
export interface List<T, O> {
  list(options?: O): Promise<Page<T>>;
  iterate(options?: O): AsyncGenerator<T, void, undefined>;
}

/** Creates the methods of a list. `Events` and `Calls` say what they throw. */
export function createList<T, O extends PageOptions>(
  { baseUrl, wire }: Settings,
  transport: Transport,
  { path, query, ...where }: ListEndpoint<O>,
): List<T, O> {
  const specOf = (options: O): RequestSpec => ({
    method: 'GET',
    url: endpoint(baseUrl, path, { ...query(options), ...pageQuery(options, wire) }),
    signal: options.signal,
  });
  async function list(options = {} as O): Promise<Page<T>> {
    const spec = specOf(options);
    return readPage<T>(spec, await transport.json(spec), where, wire);
  }
  /** A page is requested when its first record is needed, never earlier. */
  async function* iterate(options = {} as O): AsyncGenerator<T, void, undefined> {
    const used = new Set<string>();
    let { next } = options;
    for (;;) {
      if (next !== undefined) used.add(next);
      const page = await list({ ...options, next });
      yield* page.results;
      // The consumer may have paused for long between two results.
      options.signal?.throwIfAborted();
      if (!page.hasNext || page.next === undefined) return;
      // Going on would never end, and ending would lose the pages after it.
      if (used.has(page.next))
        throw stopped(
          specOf(options),
          'the service repeats a cursor, so it may have ignored it',
          'Set wire.nextParam to the query parameter that the service reads the cursor from',
        );
      next = page.next;
    }
  }
  return { list, iterate };
}

function pageQuery(
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
 * @throws {ApiError} `invalid-response` if the response has no array of records, or announces another
 * page that cannot be asked for. The message names the setting of `wire` to change.
 */
export function readPage<T>(
  spec: RequestSpec,
  response: JsonResponse,
  where: { readonly field: string; readonly setting?: 'callsField' },
  wire: PagingNames,
): Page<T> {
  const raw = response.value;
  const results = Array.isArray(raw) ? (raw as unknown[]) : valueAt(raw, where.field);
  if (!Array.isArray(results)) throw noResults(spec, raw, where);
  if (!results.every(isRecord)) throw invalidResponse(spec, 'some results are not objects');
  return { results: results as T[], ...findNext(spec, response, wire), raw };
}

function noResults(
  spec: RequestSpec,
  raw: unknown,
  { field, setting }: { readonly field: string; readonly setting?: 'callsField' },
): ApiError {
  const problem = `the response has no array "${field}"`;
  if (setting === undefined) return invalidResponse(spec, problem);
  const others = pathsTo(raw, (value) => Array.isArray(value) && value.every(isRecord));
  const found = others.map((other) => `"${other}"`).join(' or ');
  const hint = found === '' ? '' : `, perhaps ${found}`;
  const fix = `Set wire.${setting} to the field that holds them${hint}`;
  return invalidResponse(spec, `${problem} of records. ${fix}`);
}

type PagingNames = Pick<WireNames, 'nextField' | 'hasNextField' | 'nextParam'>;

/**
 * Finds the cursor of the next page: in the field `wire.nextField`, or in a `Link` header. If it is
 * a URL of the requested origin, its parameter `wire.nextParam` is the cursor.
 *
 * @throws {ApiError} `invalid-response` if the response announces another page, but has no cursor that is
 * understood. The message names the setting of `wire` to change.
 */
function findNext(
  spec: RequestSpec,
  response: JsonResponse,
  wire: PagingNames,
): Pick<Page<unknown>, 'next' | 'hasNext'> {
  const { value } = response;
  const field = valueAt(value, wire.nextField);
  const more = valueAt(value, wire.hasNextField);
  const source = `the field "${wire.nextField}"`;
  if (typeof field === 'number' && field > 0)
    return { next: String(field), hasNext: more !== false };
  if (typeof field === 'string' && field !== '') {
    const next = isUrl(field, spec.url) ? cursorOfUrl(field, source, spec, wire) : field;
    return { next, hasNext: more !== false };
  }
  if (more === false) return { next: undefined, hasNext: false };
  if (field === true || (typeof field === 'object' && field !== null)) {
    const inner = pathsTo(value, isCursor).find((path) => path.startsWith(`${wire.nextField}.`));
    throw stopped(spec, `${source} holds no cursor`, changeNextField(inner));
  }
  const link = nextLink(response.headers);
  if (link !== undefined) {
    return { next: cursorOfUrl(link, 'the Link header', spec, wire), hasNext: true };
  }
  const announced = more === true ? wire.hasNextField : announcement(value, wire);
  if (announced === undefined) return { next: undefined, hasNext: false };
  throw stopped(
    spec,
    `there is another page ("${announced}"), but ${source} holds no cursor`,
    changeNextField(pathsTo(value, isNamedNext)[0] ?? pathsTo(value, isNamedCursor)[0]),
  );
}

/** A field that announces another page, in a response that lacks the default `wire.nextField`. */
function announcement(value: unknown, wire: PagingNames): string | undefined {
  // Whoever has configured the field knows better than a guess by names.
  if (wire.nextField !== defaultWireNames.nextField) return undefined;
  if (valueAt(value, wire.nextField) !== undefined) return undefined;
  return (
    pathsTo(value, isNamedNext)[0] ??
    pathsTo(
      value,
      (flag, path) => flag === true && /(?:^|\.)(?:has_?)?(?:more|next)(?:_?pages?)?$/i.test(path),
    )[0] ??
    pathsTo(value, (total, path) => isTotalAbovePage(total, path, value))[0]
  );
}

/** Whether a field such as `totalPages` is greater than the number of the page beside it. */
function isTotalAbovePage(total: unknown, path: string, response: unknown): boolean {
  const match = /^(.*\.)?total_?pages$/i.exec(path);
  if (match === null || typeof total !== 'number') return false;
  const page = ['page', 'pageNumber', 'page_number', 'currentPage', 'current_page']
    .map((name) => valueAt(response, `${match[1] ?? ''}${name}`))
    .find((value) => typeof value === 'number');
  // Where pages are counted from 0, the first of one page is the last.
  return page !== undefined && total > Math.max(1, page);
}

function isNamedNext(value: unknown, path: string): boolean {
  return /next/i.test(path) && isCursor(value) && !/(?:at|time|date)$/i.test(path);
}

function isNamedCursor(value: unknown, path: string): boolean {
  return /cursor|after|token/i.test(path) && isCursor(value);
}

/** Whether a value may be a cursor. No page number or offset of 0 comes next, so 0 means none. */
function isCursor(value: unknown): boolean {
  return (typeof value === 'number' && value > 0) || (typeof value === 'string' && value !== '');
}

/** Whether a text is a URL and not a cursor. A cursor in base64 may start with a slash, too. */
function isUrl(text: string, base: URL): boolean {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text) || text.startsWith('?')) return true;
  return text.startsWith('/') && (text.includes('?') || text.startsWith(base.pathname));
}

function cursorOfUrl(text: string, source: string, spec: RequestSpec, wire: PagingNames): string {
  const url = URL.canParse(text, spec.url.href) ? new URL(text, spec.url) : undefined;
  if (url === undefined) throw stopped(spec, `${source} holds a URL that cannot be read`);
  if (url.origin !== spec.url.origin)
    throw stopped(spec, `${source} holds a URL of another origin, which is not requested`);
  const cursor = url.searchParams.get(wire.nextParam);
  if (cursor !== null && cursor !== '') return cursor;
  const names = [...new Set(url.searchParams.keys())].map((name) => `"${name}"`).join(', ');
  throw stopped(
    spec,
    `${source} holds a URL without the parameter "${wire.nextParam}"`,
    `Set wire.nextParam to the parameter that holds the cursor${names === '' ? '' : `, one of ${names}`}`,
  );
}

/** The target of `Link: <…>; rel="next"`. */
function nextLink(headers: Headers): string | undefined {
  for (const [, target, params] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(params ?? ''))
      return target;
  }
  return undefined;
}

function changeNextField(found: string | undefined): string {
  const hint = found === undefined ? '' : `, perhaps "${found}"`;
  return `Set wire.nextField to the field that holds the cursor${hint}`;
}

function stopped(spec: RequestSpec, what: string, fix = ''): ApiError {
  return invalidResponse(
    spec,
    `the next page cannot be requested: ${what}${fix === '' ? '' : `. ${fix}`}`,
  );
}
