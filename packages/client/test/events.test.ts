import { describe, expect, test } from '@jest/globals';
import { ACTIVITY_ACTIONS, isActivityAction } from '../src/events.ts';
import type { ActivityEvent } from '../src/events.ts';
import { testClient } from './support/client.ts';
import { TestClock } from './support/clock.ts';
import { type Handler, sendJson } from './support/server.ts';
import { useServer } from './support/use-server.ts';

describe('events', () => {
  const server = useServer();

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
      server.answer = (_, response) =>
        sendJson(response, { results: [{ _id: 'e1', action: 'novel', extra: 1 }] });
      const search = { to: ['ann@example.com', 'Bo Li'], type: 'poll:voted' } as const;
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
      server.answer = numbered(1, 1);
      const { events } = testClient(`${server.origin}/base/`);
      await events.list({ search: {} });
      await events.list({ search: 'since:tomorrow' });
      expect(server.requests.map(({ url }) => url)).toEqual([
        '/base/v1/events',
        '/base/v1/events?search=since%3Atomorrow',
      ]);
    });

    test('takes other names for what the spec does not show', async () => {
      server.answer = (_, response) =>
        sendJson(response, { results: [], page: { after: 'n', more: true } });
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
      server.answer = numbered(10_000, 500);
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
      server.answer = (request, response, message) => {
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

    test('fails when the service repeats a cursor, after the results that came', async () => {
      server.answer = (_, response) =>
        sendJson(response, { results: [{ _id: 'e' }], next: 'same', hasNext: true });
      let count = 0;
      const reading = (async () => {
        for await (const event of testClient(server.origin).events.iterate())
          count += event._id.length;
      })();
      await expect(reading).rejects.toThrow('wire.nextParam');
      expect(count).toBe(2);
      expect(server.requests).toHaveLength(2);
    });
  });
});

describe('actions', () => {
  test('knows the seven types of the spec', () => {
    expect(ACTIVITY_ACTIONS).toHaveLength(7);
    expect(ACTIVITY_ACTIONS.every(isActivityAction)).toBe(true);
    expect(['bounced', '', undefined, 'Opened'].some(isActivityAction)).toBe(false);
  });
});

describe('types', () => {
  /** Compiles only while the union narrows on `action`: `npm run typecheck` covers this file. */
  function summary(event: ActivityEvent): string {
    switch (event.action) {
      case 'opened':
        // @ts-expect-error only clicked and downloaded have an object
        expect(event.object).toBeUndefined();
        return `${event.device.os} ${event.location.city}`;
      case 'clicked':
        // @ts-expect-error only opened and downloaded have a device
        expect(event.device).toBeUndefined();
        return event.object.title;
      case 'downloaded':
        return `${event.object.title} ${event.device.program} ${event.location.country}`;
      case 'unopened':
      case 'replied':
      case 'meetinginvites:confirmed':
      case 'poll:voted':
        // @ts-expect-error it has no device
        expect(event.device).toBeUndefined();
        return event.actionName;
      default:
        return `${event.action} ${String(event['novelty'])}`;
    }
  }

  test('an event is told apart by its action, and an unknown one is kept', () => {
    const event = (fields: object): ActivityEvent => fields as ActivityEvent;
    const device = { os: 'Linux', program: 'Mutt', isMobile: false };
    const location = { city: 'Bern', region: 'BE', country: 'CH' };
    expect(summary(event({ action: 'opened', device, location }))).toBe('Linux Bern');
    expect(summary(event({ action: 'clicked', object: { type: 'link', title: 'Offer' } }))).toBe(
      'Offer',
    );
    expect(
      summary(
        event({ action: 'downloaded', device, location, object: { type: 'f', title: 'a.pdf' } }),
      ),
    ).toBe('a.pdf Mutt CH');
    expect(summary(event({ action: 'replied', actionName: 'Replied' }))).toBe('Replied');
    expect(summary(event({ action: 'bounced', novelty: 1 }))).toBe('bounced 1');
  });
});
