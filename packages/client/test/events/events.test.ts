import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventSearch } from '../../src/search/index.ts';
import { testClient } from '../support/client.ts';
import { TestClock } from '../support/clock.ts';
import { sendJson, startServer, type Handler, type TestServer } from '../support/server.ts';

let server: TestServer;
let answer: Handler;

beforeEach(async () => {
  server = await startServer((request, response, message) => answer(request, response, message));
});
afterEach(() => server.close());

const query = (url: string): Record<string, string> =>
  Object.fromEntries(new URL(url, 'http://localhost').searchParams);

/** Serves the numbers up to `total`, `size` to a page. */
function numbered(total: number, size: number): Handler {
  return ({ url }, response) => {
    const start = Number(query(url)['next'] ?? 0);
    const end = Math.min(total, start + size);
    const results = Array.from({ length: end - start }, (_, index) => ({
      _id: String(start + index),
    }));
    sendJson(response, { results, hasNext: end < total, next: String(end) });
  };
}

describe('list', () => {
  test('sends search, next and limit', async () => {
    answer = (_, response) =>
      sendJson(response, { results: [{ _id: 'e1', action: 'novel', extra: 1 }] });
    const search = eventSearch().to('ann@example.com').to('Bo Li').type('poll:voted');
    const page = await testClient(server.origin).events.list({ search, next: 'c/1', limit: 20 });
    expect(query(server.requests[0]!.url)).toEqual({
      search: 'to:ann@example.com to:"Bo Li" type:poll:voted',
      next: 'c/1',
      limit: '20',
    });
    expect(page).toMatchObject({
      results: [{ _id: 'e1', action: 'novel', extra: 1 }],
      hasNext: false,
    });
  });

  test('sends no empty search, and a text as it is', async () => {
    answer = numbered(1, 1);
    const { events } = testClient(`${server.origin}/base/`);
    await events.list({ search: eventSearch() });
    await events.list({ search: 'since:tomorrow' });
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/base/v1/events',
      '/base/v1/events?search=since%3Atomorrow',
    ]);
  });

  test('takes other names for what the spec does not show', async () => {
    answer = (_, response) => sendJson(response, { results: [], page: { after: 'n', more: true } });
    const wire = {
      nextParam: 'after',
      limitParam: 'size',
      nextField: 'page.after',
      hasNextField: 'page.more',
    };
    const page = await testClient(server.origin, { wire }).events.list({ next: 'm', limit: 3 });
    expect(query(server.requests[0]!.url)).toEqual({ after: 'm', size: '3' });
    expect(page).toMatchObject({ next: 'n', hasNext: true });
  });
});

describe('iterate', () => {
  test('yields ten thousand events of twenty pages, in order', async () => {
    answer = numbered(10_000, 500);
    let expected = 0;
    for await (const event of testClient(server.origin).events.iterate({ search: 'x' })) {
      expect(event._id).toBe(String(expected++));
    }
    expect(expected).toBe(10_000);
    expect(server.requests).toHaveLength(20);
    expect(server.requests.every(({ url }) => query(url)['search'] === 'x')).toBe(true);
  });

  test('survives a server that breaks off between pages', async () => {
    const healthy = numbered(6, 2);
    let broken = 0;
    answer = (request, response, message) => {
      const cut = request.url.includes('next=2') && broken++ < 2;
      return cut ? void response.destroy() : healthy(request, response, message);
    };
    const clock = new TestClock();
    const ids: string[] = [];
    for await (const { _id } of testClient(server.origin, { clock }).events.iterate())
      ids.push(_id);
    expect(ids).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(clock.pauses).toEqual([250, 500]);
  });

  test('ends when the service repeats a cursor', async () => {
    answer = (_, response) =>
      sendJson(response, { results: [{ _id: 'e' }], next: 'same', hasNext: true });
    let count = 0;
    for await (const event of testClient(server.origin).events.iterate()) count += event._id.length;
    expect(count).toBe(2);
    expect(server.requests).toHaveLength(2);
  });
});
