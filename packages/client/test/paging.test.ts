import { describe, expect, test } from '@jest/globals';
import type { EventListOptions } from '../src/client.ts';
import { defaultWireNames } from '../src/options.ts';
import { readPage } from '../src/paging.ts';
import { caught } from './support/caught.ts';
import { testClient } from './support/client.ts';
import { page, results, spec } from './support/pages.ts';
import { sendJson } from './support/server.ts';
import { useServer } from './support/use-server.ts';

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
    const response = { text: JSON.stringify(raw), headers: new Headers() };
    expect(readPage(spec, response, { field: 'data.list' }, wire)).toMatchObject({
      results,
      next: 'c',
      hasNext: true,
    });
  });

  test.each([
    [{ paging: { cursor: 'c', more: false } }, 'c', false],
    [{ paging: { cursor: 'c' } }, 'c', true],
    // The usual names say nothing then.
    [{ paging: { cursor: 'c', more: true }, hasNext: false, next: 'n' }, 'c', true],
    [{ paging: { more: false }, hasNext: true, next: 'n' }, undefined, false],
  ])('with other names, %j has the cursor %p: more is %p', (more, next, hasNext) => {
    const wire = { ...defaultWireNames, nextField: 'paging.cursor', hasNextField: 'paging.more' };
    const response = { text: JSON.stringify({ results, ...more }), headers: new Headers() };
    expect(readPage(spec, response, { field: 'results' }, wire)).toMatchObject({ next, hasNext });
  });

  test.each([null, 'x', 5, {}, { results: {} }, { results: ['x'] }])('%j is no page', (raw) => {
    expect(() => page(raw)).toThrow(expect.objectContaining({ code: 'invalid-response' }));
  });
});

describe('iterate', () => {
  const server = useServer();

  /** Serves pages by their cursor; '' is the first one. */
  function serve(
    all: Record<string, { results: number[]; next?: string | undefined; hasNext?: boolean }>,
  ) {
    server.answer = ({ url }, response) => {
      const page = all[cursorOf(url)]!;
      sendJson(response, { ...page, results: page.results.map((_id) => ({ _id })) });
    };
  }
  const cursorOf = (url: string) => new URL(url, 'http://x').searchParams.get('next') ?? '';
  const asked = () => server.requests.map(({ url }) => cursorOf(url));
  const iterate = (options?: EventListOptions) => testClient(server.origin).events.iterate(options);

  async function collect(source: AsyncIterable<{ _id: unknown }>, all: unknown[] = []) {
    for await (const { _id } of source) all.push(_id);
    return all;
  }

  test('walks over all pages, empty ones too', async () => {
    serve({
      '': { results: [1, 2], next: 'a' },
      a: { results: [], next: 'b' },
      b: { results: [3] },
    });
    expect(await collect(iterate())).toEqual([1, 2, 3]);
    expect(asked()).toEqual(['', 'a', 'b']);
  });

  test('ends when the service says so, though there is a cursor', async () => {
    serve({ '': { results: [1], next: 'a', hasNext: false } });
    expect(await collect(iterate())).toEqual([1]);
  });

  test.each([
    ['at once', { '': { results: [1], next: 'a' }, a: { results: [2], next: 'a' } }, undefined],
    ['the first one', { a: { results: [1], next: 'b' }, b: { results: [2], next: 'a' } }, 'a'],
  ])('fails when a cursor comes again, so that no page is lost: %s', async (_, pages, next) => {
    serve(pages);
    const all: unknown[] = [];
    const error = await caught(collect(iterate({ next }), all));
    expect(error).toMatchObject({ code: 'invalid-response', path: '/v1/events' });
    expect(error.message).toContain('wire.nextParam');
    expect(all).toEqual([1, 2]);
  });

  test('never fetches ahead of its consumer', async () => {
    serve({ '': { results: [1, 2], next: 'a' }, a: { results: [3] } });
    const iterator = iterate();
    expect(asked()).toEqual([]);
    await iterator.next();
    await iterator.next();
    expect(asked()).toEqual(['']);
    await iterator.next();
    expect(asked()).toEqual(['', 'a']);
  });

  test.each([
    ['between two pages', 'a'],
    ['after the last record', undefined],
  ])('an abort %s ends it with the reason, so that it does not look complete', async (_, next) => {
    const controller = new AbortController();
    serve({ '': { results: [1], next } });
    const iterator = iterate({ signal: controller.signal });
    await iterator.next();
    controller.abort(new Error('enough'));
    await expect(iterator.next()).rejects.toThrow('enough');
    expect(asked()).toEqual(['']);
  });

  test('fails instead of ending, where another page is announced', async () => {
    server.answer = (_, response) => sendJson(response, { results, hasNext: true });
    await expect(iterate().next()).rejects.toThrow('wire.nextField');
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
    ['a broken URL', { results, next: 'https://' }, ['wire.nextParam']],
  ])('%s', (_, raw, words) => {
    expect(() => page(raw)).toThrow(expect.objectContaining({ code: 'invalid-response' }));
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
    ['https://internal.example/v1/events?next=n', 'n'],
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
});
