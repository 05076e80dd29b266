import { ConfigurationError, type ApiError } from './errors.ts';
import { endpoint, invalidResponse, type QueryValue, type RequestSpec } from './http/exchange.ts';
import type { TextResponse, Transport } from './http/transport.ts';
import { isRecord, pathsTo, valueAt } from './json-path.ts';
import { defaultWireNames, type Settings, type WireNames } from './options.ts';

/** One page of a list. */
export interface Page<T> {
  /** The records of this page. */
  readonly results: readonly T[];
  /** The cursor of the next page, or `undefined` on the last page. */
  readonly next: string | undefined;
  /** Whether there is another page. */
  readonly hasNext: boolean;
  /** The whole response, unchanged. */
  readonly raw: unknown;
}

/** The options of every list. */
export interface PageOptions {
  /** The cursor `next` of the previous page; without it, the first page is returned. */
  readonly next?: string | undefined;
  /**
   * The page size, 1 or more, sent as `wire.limitParam`. It is a guess, since the spec shows no such
   * parameter.
   */
  readonly limit?: number | undefined;
  /** Aborts the call, which then rejects with the reason of the signal. */
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
  const specOf = (options: O): RequestSpec => {
    const { next, limit, signal } = options;
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
      throw new ConfigurationError('limit must be a whole number, 1 or more');
    if (next !== undefined && !isSendable(next))
      throw new ConfigurationError('next must be the cursor of a page, unchanged');
    const paging = { [wire.nextParam]: next, [wire.limitParam]: limit };
    return {
      method: 'GET',
      url: endpoint(baseUrl, path, { ...query(options), ...paging }),
      signal,
    };
  };
  async function list(options = {} as O): Promise<Page<T>> {
    const spec = specOf(options);
    return readPage<T>(spec, await transport.read(spec), where, wire);
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
          'the service returned a cursor that it had returned before, so it may ignore the cursor',
          'Set wire.nextParam to the query parameter that the service reads the cursor from',
        );
      next = page.next;
    }
  }
  return { list, iterate };
}

/** An empty text would ask for the first page, and half of a surrogate pair can't be part of a URL. */
const isSendable = (next: unknown) =>
  typeof next === 'string' && next !== '' && !/\p{Surrogate}/u.test(next);

type PagingNames = Pick<WireNames, 'nextField' | 'hasNextField' | 'nextParam'>;

/**
 * Reads one page. A bare array is a page too; only a `Link` header can give it a next one.
 *
 * @throws {ApiError} `invalid-response` if the response has no array of records, or announces another
 * page that cannot be asked for. The message names the setting of `wire` to change.
 */
export function readPage<T>(
  spec: RequestSpec,
  { text, headers }: TextResponse,
  { field, setting }: Pick<ListEndpoint<never>, 'field' | 'setting'>,
  wire: PagingNames,
): Page<T> {
  const raw = parse(spec, text);
  const results = Array.isArray(raw) ? (raw as unknown[]) : valueAt(raw, field);
  if (!Array.isArray(results)) {
    const problem = `the response has no array "${field}"`;
    if (setting === undefined) throw invalidResponse(spec, problem);
    const other = pathsTo(raw, (value) => Array.isArray(value) && value.every(isRecord))[0];
    const fix = `Set wire.${setting} to the field that holds them${perhaps(other)}`;
    throw invalidResponse(spec, `${problem} of records. ${fix}`);
  }
  if (!results.every(isRecord)) throw invalidResponse(spec, 'some results are not objects');
  const next = nextCursor(spec, raw, headers, wire);
  const hasNext = next !== undefined && valueAt(raw, wire.hasNextField) !== false;
  return { results: results as T[], next, hasNext, raw };
}

function parse(spec: RequestSpec, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own message quotes the response, so it is dropped.
    throw invalidResponse(spec, 'the response is not JSON');
  }
}

/**
 * Finds the cursor of the next page: in the field `wire.nextField`, or in a `Link` header. If it is a
 * URL, its parameter `wire.nextParam` is the cursor; the URL itself is never requested.
 *
 * @throws {ApiError} `invalid-response` if the response announces another page, but has no cursor
 */
function nextCursor(
  spec: RequestSpec,
  raw: unknown,
  headers: Headers,
  wire: PagingNames,
): string | undefined {
  const field = valueAt(raw, wire.nextField);
  if (isCursor(field)) {
    const text = String(field);
    return isUrl(text, spec.url) ? cursorOfUrl(text, spec, wire) : text;
  }
  const more = valueAt(raw, wire.hasNextField);
  if (more === false) return undefined;
  const link = nextLink(headers);
  if (link !== undefined) return cursorOfUrl(link, spec, wire);
  const unreadable = field === true || (typeof field === 'object' && field !== null);
  const announced = unreadable
    ? wire.nextField
    : more === true
      ? wire.hasNextField
      : announcement(raw, wire);
  if (announced === undefined) return undefined;
  const candidate = pathsTo(raw, isNamedCursor)[0];
  throw stopped(
    spec,
    `there is another page ("${announced}"), but the field "${wire.nextField}" holds no cursor`,
    `Set wire.nextField to the field that holds the cursor${perhaps(candidate)}`,
  );
}

/** A field that announces another page, in a response that lacks the default `wire.nextField`. */
function announcement(raw: unknown, { nextField }: PagingNames): string | undefined {
  // A configured field takes precedence over a guess by names.
  if (nextField !== defaultWireNames.nextField || valueAt(raw, nextField) !== undefined)
    return undefined;
  return pathsTo(raw, (value, path) => {
    if (value === true) return /(?:^|\.)(?:has_?)?(?:more|next)(?:_?pages?)?$/i.test(path);
    return /next/i.test(path) && isNamedCursor(value, path);
  })[0];
}

/** Whether a value may be a cursor. No page number or offset of 0 comes next, so 0 means none. */
function isCursor(value: unknown): boolean {
  return (typeof value === 'number' && value > 0) || (typeof value === 'string' && value !== '');
}

function isNamedCursor(value: unknown, path: string): boolean {
  return (
    isCursor(value) && /next|cursor|after|token/i.test(path) && !/(?:at|time|date)$/i.test(path)
  );
}

/** Whether a string is a URL and not a cursor. A cursor in base64 may start with a slash, too. */
function isUrl(text: string, base: URL): boolean {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text) || text.startsWith('?')) return true;
  return text.startsWith('/') && (text.includes('?') || text.startsWith(base.pathname));
}

function cursorOfUrl(text: string, spec: RequestSpec, wire: PagingNames): string {
  const isReadable = URL.canParse(text, spec.url.href);
  const parameters = isReadable ? new URL(text, spec.url).searchParams : new URLSearchParams();
  const cursor = parameters.get(wire.nextParam);
  if (cursor !== null && cursor !== '') return cursor;
  const names = [...new Set(parameters.keys())].map((name) => `"${name}"`).join(', ');
  throw stopped(
    spec,
    `its URL has no parameter "${wire.nextParam}"`,
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

const perhaps = (path: string | undefined): string =>
  path === undefined ? '' : `, perhaps "${path}"`;

function stopped(spec: RequestSpec, what: string, fix: string): ApiError {
  return invalidResponse(spec, `the next page cannot be requested: ${what}. ${fix}`);
}
