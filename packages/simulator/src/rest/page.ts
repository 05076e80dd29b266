import { SimulatorError } from '../simulator-error.ts';

/**
 * One page of a list. The spec shows only `results`.
 * @guess `GET /v1/calls`, rule actions, errors, paging and rate limits
 */
export interface Page<Result> {
  readonly results: Result[];
  /** The `next` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
  readonly hasNext: boolean;
}

const MAX_PAGE_SIZE = 500;

/** The query parameters of a page. */
export interface PageQuery {
  readonly next?: unknown;
  readonly limit?: unknown;
}

/** Lists are sorted by time, the newest first, and then by `_id`. */
export interface Dated {
  readonly _id: string;
  readonly time: number;
}

/**
 * Selects one page. A cursor names the last result of its page, so that new results and vanished
 * `unopened` events do not shift the next pages.
 * @throws SimulatorError `invalid-input` for an invalid cursor or limit
 */
export function pageOf<Item extends Dated>(
  items: readonly Item[],
  query: PageQuery,
  pageSize: number,
): Page<Item> {
  const limit = limitOf(query.limit, pageSize);
  const after = query.next === undefined ? undefined : keyOfCursor(query.next);
  const left = items
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || key < after)
    .sort((one, other) => (one.key < other.key ? 1 : -1));
  const results = left.slice(0, limit).map(({ item }) => item);
  const last = results.at(-1);
  const hasNext = left.length > limit && last !== undefined;
  return { results, hasNext, next: hasNext ? cursorOf(last) : null };
}

const keyOf = ({ time, _id }: Dated) => `${String(time).padStart(16, '0')}/${_id}`;
const cursorOf = (item: Dated) => Buffer.from(keyOf(item)).toString('base64url');

function keyOfCursor(cursor: unknown): string {
  const key = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (/^\d{16}\/./.test(key)) return key;
  throw new SimulatorError('invalid-input', 'Invalid cursor: pass the "next" of a page.');
}

function limitOf(limit: unknown, pageSize: number): number {
  if (limit === undefined) return pageSize;
  if (typeof limit === 'string' && /^[1-9]\d{0,8}$/.test(limit))
    return Math.min(Number(limit), MAX_PAGE_SIZE);
  throw new SimulatorError('invalid-input', 'limit must be a whole number from 1.');
}
