import { describe, expect, test } from '@jest/globals';
import { InvalidResponseError } from '../src/errors/index.ts';
import { iteratePages, type Page, type PageOptions, readPage } from '../src/paging/page.ts';
import { defaultWireNames } from '../src/wire.ts';
import { page, results, spec } from './support/pages.ts';

describe('a page', () => {
  test.each([
    [{ results, next: 'n', hasNext: true }, 'n', true],
    [{ results, next: 'n' }, 'n', true],
    [{ results, next: 7 }, '7', true],
    [{ results, next: 'n', hasNext: false }, 'n', false],
    [{ results, next: '' }, undefined, false],
    [{ results, next: 0 }, undefined, false],
    [{ results, next: -1 }, undefined, false],
    [{ results, paging: { next: 0 } }, undefined, false],
    [{ results, page: 3, totalPages: 3 }, undefined, false],
    [{ results, page: 0, totalPages: 1 }, undefined, false],
    [{ results, page: 1, totalPages: 3, next: 2 }, '2', true],
    [{ results, totalPages: 3 }, undefined, false],
    [{ results, next: null }, undefined, false],
    [{ results, next: false }, undefined, false],
    [{ results, next: {}, hasNext: false }, undefined, false],
    [{ results, next: null, nextCursor: 'n' }, undefined, false],
    [{ results, hasMore: false, nextSyncAt: '2026-01-31T00:00:00Z' }, undefined, false],
    [{ results, total: 12, page: 1, cursor: 'this' }, undefined, false],
    [results, undefined, false],
  ])('%j has the cursor %p', (raw, next, hasNext) => {
    expect(page(raw)).toEqual({ results, next, hasNext, raw });
  });

  test('the fields may have other names, and be nested', () => {
    const raw = { data: { list: results }, paging: { cursor: 'c', more: true } };
    const wire = { ...defaultWireNames, nextField: 'paging.cursor', hasNextField: 'paging.more' };
    const response = { value: raw, headers: new Headers() };
    expect(readPage(spec, response, { path: 'data.list' }, wire)).toMatchObject({
      results,
      next: 'c',
      hasNext: true,
    });
  });

  test.each([null, 'x', 5, {}, { results: {} }, { results: ['x'] }])('%j is no page', (raw) => {
    expect(() => page(raw)).toThrow(InvalidResponseError);
  });
});

describe('iterate', () => {
  /** Pages by their cursor; '' is the first one. */
  function pages(all: Record<string, { results: number[]; next?: string; hasNext?: boolean }>) {
    const asked: (string | undefined)[] = [];
    const fetchPage = async ({ next }: PageOptions): Promise<Page<number>> => {
      asked.push(next);
      const page = all[next ?? ''];
      if (page === undefined) throw new Error(`no page ${next}`);
      return { hasNext: page.next !== undefined, next: undefined, raw: page, ...page };
    };
    return { asked, fetchPage };
  }

  async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
    const all: T[] = [];
    for await (const one of source) all.push(one);
    return all;
  }

  test('walks over all pages, empty ones too', async () => {
    const { asked, fetchPage } = pages({
      '': { results: [1, 2], next: 'a' },
      a: { results: [], next: 'b' },
      b: { results: [3] },
    });
    expect(await collect(iteratePages({}, fetchPage))).toEqual([1, 2, 3]);
    expect(asked).toEqual([undefined, 'a', 'b']);
  });

  test('ends when the service says so, though there is a cursor', async () => {
    const { fetchPage } = pages({ '': { results: [1], next: 'a', hasNext: false } });
    expect(await collect(iteratePages({}, fetchPage))).toEqual([1]);
  });

  test('fails when a cursor comes again, so that no page is lost in silence: at once, later, or the one it started with', async () => {
    const walk = async (source: AsyncIterable<number>): Promise<number[]> => {
      const all: number[] = [];
      const reading = (async () => {
        for await (const one of source) all.push(one);
      })();
      const error = await reading.catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect((error as Error).message).toContain('wire.nextParam');
      return all;
    };
    const twice = pages({ '': { results: [1], next: 'a' }, a: { results: [2], next: 'a' } });
    expect(await walk(iteratePages({}, twice.fetchPage))).toEqual([1, 2]);
    const circle = pages({ a: { results: [1], next: 'b' }, b: { results: [2], next: 'a' } });
    expect(await walk(iteratePages({ next: 'a' }, circle.fetchPage))).toEqual([1, 2]);
  });

  test('never fetches ahead of its consumer', async () => {
    const { asked, fetchPage } = pages({ '': { results: [1, 2], next: 'a' }, a: { results: [3] } });
    const iterator = iteratePages({}, fetchPage);
    expect(asked).toEqual([]);
    await iterator.next();
    await iterator.next();
    expect(asked).toEqual([undefined]);
    await iterator.next();
    expect(asked).toEqual([undefined, 'a']);
    const left = pages({ '': { results: [1], next: 'a' } });
    for await (const one of iteratePages({}, left.fetchPage)) {
      expect(one).toBe(1);
      break;
    }
    expect(left.asked).toEqual([undefined]);
  });

  test('an abort between two pages ends it', async () => {
    const controller = new AbortController();
    const { fetchPage } = pages({ '': { results: [1], next: 'a' } });
    const iterator = iteratePages({ signal: controller.signal }, fetchPage);
    await iterator.next();
    controller.abort(new Error('enough'));
    await expect(iterator.next()).rejects.toThrow('enough');
  });
});

describe('more pages are never lost in silence', () => {
  test.each<[string, unknown, string[]]>([
    [
      'a flag and another name',
      { results, hasNext: true, nextCursor: 'n' },
      ['wire.nextField', '"nextCursor"'],
    ],
    ['a flag alone', { results, hasNext: true }, ['"hasNext"', 'wire.nextField']],
    [
      'a flag of another name',
      { results, has_more: true, cursor: 'n' },
      ['"has_more"', 'wire.nextField', '"cursor"'],
    ],
    ['a nested field', { results, paging: { next: 'n' } }, ['wire.nextField', '"paging.next"']],
    ['another name', { results, nextPageToken: 'n' }, ['wire.nextField', '"nextPageToken"']],
    ['a number of another name', { results, next_page: 2 }, ['wire.nextField', '"next_page"']],
    ['zero and a flag', { results, next: 0, hasNext: true, after: 'n' }, ['"hasNext"', '"after"']],
    ['a total of pages', { results, page: 1, totalPages: 3 }, ['"totalPages"', 'wire.nextField']],
    [
      'a nested total, counted from 0',
      { results, meta: { current_page: 0, total_pages: 2 } },
      ['"meta.total_pages"', 'wire.nextField'],
    ],
    ['an object', { results, next: { cursor: 'n' } }, ['wire.nextField', '"next.cursor"']],
    ['an empty object', { results, next: {} }, ['wire.nextField']],
    ['an array', { results, next: ['n'] }, ['wire.nextField']],
    ['true', { results, next: true, after: 'n' }, ['wire.nextField']],
    [
      'a URL with another parameter',
      { results, next: '/v1/events?search=x&after=n' },
      ['wire.nextParam', '"search", "after"'],
    ],
    [
      'a URL without parameters',
      { results, next: 'https://api.example.com/v1/events/2' },
      ['wire.nextParam'],
    ],
    ['a path without parameters', { results, next: '/v1/events/2' }, ['wire.nextParam']],
    [
      'a URL of another origin',
      { results, next: 'https://evil.example/v1/events?next=n' },
      ['another origin'],
    ],
    ['a broken URL', { results, next: 'https://' }, ['cannot be read']],
  ])('%s', (_, raw, words) => {
    expect(() => page(raw)).toThrow(InvalidResponseError);
    for (const word of words) expect(() => page(raw)).toThrow(word);
  });

  test('a configured field is believed, whatever other fields are called', () => {
    const raw = { results, paging: { after: null }, nextStep: 'call' };
    expect(page(raw, { wire: { nextField: 'paging.after' } })).toMatchObject({ hasNext: false });
    const flagged = { ...raw, hasNext: true };
    expect(() => page(flagged, { wire: { nextField: 'paging.after' } })).toThrow('wire.nextField');
  });

  test.each([
    ['https://api.example.com/v1/events?search=x&next=a%2Fb', 'a/b'],
    ['/v1/events?next=n', 'n'],
    ['?next=n', 'n'],
  ])('the cursor is taken out of the URL %s', (next, cursor) => {
    expect(page({ results, next })).toMatchObject({ next: cursor, hasNext: true });
  });

  test('a cursor that starts with a slash is not a URL', () => {
    expect(page({ results, next: '/9j/4AAQ==' })).toMatchObject({ next: '/9j/4AAQ==' });
  });

  test.each([
    ['<https://api.example.com/v1/events?next=n>; rel="next"', 'n'],
    ['</v1/events?next=p>; rel=prev, </v1/events?next=n>; title="a, b"; rel="last next"', 'n'],
    ['<?next=n>;rel=next', 'n'],
    ['</v1/events?next=p>; rel="prev"', undefined],
    ['</v1/events?next=p>; rel="nextish"', undefined],
  ])('the Link header %s leads to %p', (link, next) => {
    expect(page({ results }, { link })).toMatchObject({ next, hasNext: next !== undefined });
    expect(page(results, { link })).toMatchObject({ next });
  });

  test('a Link header that is not understood', () => {
    const link = '</v1/events?page=2>; rel="next"';
    expect(() => page({ results }, { link })).toThrow('wire.nextParam');
    expect(() => page({ results }, { link })).toThrow('"page"');
  });

  test('iterate fails instead of ending', async () => {
    const fetchPage = async (): Promise<Page<unknown>> => page({ results, hasNext: true });
    await expect(iteratePages({}, fetchPage).next()).rejects.toThrow('wire.nextField');
  });
});
