import { describe, expect, test } from '@jest/globals';
import { InvalidResponseError } from '../../src/errors/index.ts';
import { iteratePages, readPage, type Page, type PageOptions } from '../../src/paging/page.ts';
import { defaultWireNames } from '../../src/wire.ts';
import { page, results, spec } from '../support/pages.ts';

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
