import { isDateTime } from './formats.ts';
import { propose, type Candidate, type Proposal } from './proposal.ts';
import type { ListPage, Samples } from './samples.ts';

/** The settings of `wire` that an answer can show. */
export type PagingSetting =
  'callsField' | 'nextField' | 'hasNextField' | 'nextParam' | 'limitParam';

/** Finds where call records stand, and how lists are paged, in answers of the list endpoints. */
export function inferPaging({ pages, calls }: Samples): Proposal<PagingSetting>[] {
  const cursors = cursorCandidates(pages);
  const links = pages.flatMap((page) => nextLinks(page, cursors));
  const named = (pattern: RegExp): Candidate[] =>
    reasoned(
      links.flatMap((link) => [...link.keys()].filter((name) => pattern.test(name))),
      'a parameter in the URL of the next page',
    );
  return [
    propose('callsField', callsCandidates(pages, new Set(calls.map(({ call }) => call)))),
    propose('nextField', cursors),
    propose('hasNextField', moreCandidates(pages, cursors)),
    propose('nextParam', named(/next|cursor|after|token|page$/i)),
    propose('limitParam', named(/limit|size|per_?page|count/i)),
  ];
}

function callsCandidates(pages: readonly ListPage[], callIds: ReadonlySet<unknown>): Candidate[] {
  const known = new Set<string>();
  const likely = new Set<string>();
  for (const { lists } of pages) {
    for (const [path, records] of lists) {
      const isCall = ({ _id, action }: Readonly<Record<string, unknown>>): boolean =>
        typeof _id === 'string' && action === undefined;
      if (path === '' || records.length === 0 || !records.every(isCall)) continue;
      likely.add(path);
      if (records.some(({ _id }) => callIds.has(_id))) known.add(path);
    }
  }
  return known.size > 0
    ? reasoned([...known], 'records whose _id is the callId of a captured event')
    : reasoned([...likely], 'records with an _id');
}

/** Texts and numbers that the name says lead to the next page; else those that the last page lacks. */
function cursorCandidates(pages: readonly ListPage[]): Candidate[] {
  const paths = pathsOf(pages, (value) => isCursor(value));
  const named = paths.filter((path) => /next/i.test(path) && !/count|total|size/i.test(path));
  if (named.length > 0)
    return reasoned(named, 'its name says "next", and it holds a text or number');
  const missing = paths.filter((path) => pages.some(({ values }) => !isCursor(values.get(path))));
  const candidates = missing.filter((path) => !/prev/i.test(path));
  return reasoned(candidates, 'a text or number that one page has and another has not');
}

/** Booleans that are true exactly where there is a cursor; else those that the name speaks for. */
function moreCandidates(pages: readonly ListPage[], cursors: readonly Candidate[]): Candidate[] {
  const paths = pathsOf(pages, (value) => typeof value === 'boolean');
  const [cursor] = cursors;
  const seen = (path: string, wanted: boolean): boolean =>
    pages.some(({ values }) => values.get(path) === wanted);
  const agree = paths.filter(
    (path) =>
      cursor !== undefined &&
      seen(path, true) &&
      seen(path, false) &&
      pages.every(({ values }) => values.get(path) === isCursor(values.get(cursor.name))),
  );
  if (agree.length > 0) return reasoned(agree, 'true exactly on the pages that have a cursor');
  const named = paths.filter((path) => /more|has_?next/i.test(path));
  return reasoned(named, 'a boolean whose name says whether there is more');
}

/** The parameters of the URL that leads to the next page, where the cursor is a URL. */
function nextLinks({ values }: ListPage, cursors: readonly Candidate[]): URLSearchParams[] {
  return cursors.flatMap(({ name }) => {
    const value = values.get(name);
    const query = typeof value === 'string' ? /^[^?]*[:/][^?]*\?(.*)$|^\?(.*)$/s.exec(value) : null;
    return query === null ? [] : [new URLSearchParams(query[1] ?? query[2])];
  });
}

function isCursor(value: unknown): boolean {
  if (typeof value === 'number') return true;
  return typeof value === 'string' && value !== '' && !isDateTime(value);
}

function pathsOf(pages: readonly ListPage[], test: (value: unknown) => boolean): string[] {
  const paths = pages.flatMap(({ values }) =>
    [...values].filter(([, value]) => test(value)).map(([path]) => path),
  );
  return [...new Set(paths)];
}

function reasoned(names: readonly string[], reason: string): Candidate[] {
  return [...new Set(names)].map((name) => ({ name, reasons: [reason] }));
}
