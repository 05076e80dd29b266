import { describe, expect, test } from '@jest/globals';
import { InvalidResponseError } from '../../src/errors/index.ts';
import { iteratePages, type Page } from '../../src/paging/page.ts';
import { page, results } from '../support/pages.ts';

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
