import { describe, expect, test } from '@jest/globals';
import { ConfigurationError, InvalidResponseError } from '../src/errors/index.ts';
import { iteratePages } from '../src/paging/iterate.ts';
import { type Page, type PageOptions, readPage } from '../src/paging/page.ts';
import { defaultWireNames } from '../src/wire.ts';
import { caught } from './support/caught.ts';
import { testClient, TOKEN } from './support/client.ts';
import { sendJson } from './support/server.ts';
import { useServer } from './support/use-server.ts';

describe('page', () => {
  test.each([
    [{ results: [{ _id: '1' }], next: 'n', hasNext: true }, 'n', true],
    [{ results: [{ _id: '1' }], next: 'n' }, 'n', true],
    [{ results: [{ _id: '1' }], next: 7 }, '7', true],
    [{ results: [{ _id: '1' }], next: 'n', hasNext: false }, 'n', false],
    [{ results: [{ _id: '1' }], hasNext: true }, undefined, false],
    [{ results: [{ _id: '1' }], next: '' }, undefined, false],
    [{ results: [{ _id: '1' }], next: null }, undefined, false],
    [{ results: [{ _id: '1' }], next: {} }, undefined, false],
    [[{ _id: '1' }], undefined, false],
  ])('%j has the cursor %p', (raw, next, hasNext) => {
    expect(readPage(raw, 'GET /', 'results', defaultWireNames)).toEqual({
      results: [{ _id: '1' }],
      next,
      hasNext,
      raw,
    });
  });

  test('the fields may have other names, and lie deeper', () => {
    const raw = { data: { list: [{ _id: '1' }] }, paging: { cursor: 'c', more: true } };
    const wire = { nextField: 'paging.cursor', hasNextField: 'paging.more' };
    expect(readPage(raw, 'GET /', 'data.list', wire)).toMatchObject({
      results: [{ _id: '1' }],
      next: 'c',
      hasNext: true,
    });
  });

  test.each([null, 'x', 5, {}, { results: {} }])('%j is no page', (raw) => {
    expect(() => readPage(raw, 'GET /v1/events', 'results', defaultWireNames)).toThrow(
      InvalidResponseError,
    );
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

  test('ends when a cursor comes again: at once, later, or the one it started with', async () => {
    const twice = pages({ '': { results: [1], next: 'a' }, a: { results: [2], next: 'a' } });
    expect(await collect(iteratePages({}, twice.fetchPage))).toEqual([1, 2]);
    const circle = pages({ a: { results: [1], next: 'b' }, b: { results: [2], next: 'a' } });
    expect(await collect(iteratePages({ next: 'a' }, circle.fetchPage))).toEqual([1, 2]);
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

describe('calls', () => {
  const server = useServer();

  test('lists and iterates call records as they come', async () => {
    server.answer = ({ url }, response) =>
      url.includes('next=2')
        ? sendJson(response, { results: [{ _id: 'c2' }] })
        : sendJson(response, { results: [{ _id: 'c1', anything: [1] }], next: '2' });
    const { calls } = testClient(server.origin);
    const page = await calls.list({
      query: { userId: 'u', skip: undefined, recorded: true },
      limit: 1,
    });
    expect(page).toMatchObject({
      results: [{ _id: 'c1', anything: [1] }],
      next: '2',
      hasNext: true,
    });
    expect(server.requests[0]?.url).toBe('/v1/calls?userId=u&recorded=true&limit=1');
    const ids: string[] = [];
    for await (const { _id } of calls.iterate()) ids.push(_id);
    expect(ids).toEqual(['c1', 'c2']);
  });

  test('the records may stand in another field', async () => {
    server.answer = (_, response) => sendJson(response, { calls: [{ _id: 'c1' }] });
    const page = await testClient(server.origin, { wire: { callsField: 'calls' } }).calls.list();
    expect(page.results).toEqual([{ _id: 'c1' }]);
  });

  test('a recording is a stream with its type and length', async () => {
    server.answer = (_, response) => {
      response.writeHead(200, {
        'content-type': 'audio/mpeg',
        'content-length': '5',
        etag: '"v1"',
      });
      response.end('sound');
    };
    const recording = await testClient(server.origin).calls.recording('call/1');
    expect(recording).toMatchObject({ contentType: 'audio/mpeg', contentLength: 5, etag: '"v1"' });
    await expect(new Response(recording.body).text()).resolves.toBe('sound');
    expect(server.requests[0]).toMatchObject({ url: '/v1/calls/call%2F1/recording' });
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-token': TOKEN,
      'accept-encoding': 'identity',
    });
  });

  test('a recording that is not there, and an id that is none', async () => {
    server.answer = (_, response) => sendJson(response, {}, 404);
    const { calls } = testClient(server.origin);
    expect(await caught(calls.recording('c'))).toMatchObject({ code: 'not-found', status: 404 });
    expect(await caught(calls.recording('..'))).toBeInstanceOf(ConfigurationError);
    expect(server.requests).toHaveLength(1);
  });
});
