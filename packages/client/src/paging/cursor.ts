import { InvalidResponseError } from '../errors/index.ts';
import { describe, type RequestSpec } from '../http/request.ts';
import type { JsonResponse } from '../http/transport.ts';
import { defaultWireNames, type WireNames } from '../wire.ts';
import { pathsTo, valueAt } from '../json-path.ts';

type PagingNames = Pick<WireNames, 'nextField' | 'hasNextField' | 'nextParam'>;

/** How to get the next page, if there is one. */
export interface Next {
  readonly next: string | undefined;
  readonly hasNext: boolean;
}

/**
 * Finds the cursor of the next page: in the field `wire.nextField`, or in a `Link` header. If it is
 * a URL of the requested origin, its parameter `wire.nextParam` is the cursor.
 *
 * @throws {InvalidResponseError} if the response announces another page, but has no cursor that is
 * understood. The message names the setting of `wire` to change.
 */
export function findNext(spec: RequestSpec, response: JsonResponse, wire: PagingNames): Next {
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

function stopped(spec: RequestSpec, what: string, fix = ''): InvalidResponseError {
  return new InvalidResponseError(
    `${describe(spec)}: the next page cannot be requested: ${what}${fix === '' ? '' : `. ${fix}`}`,
  );
}
