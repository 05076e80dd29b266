import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import type { EventState, OutcomeLog } from '@call-webhooks/core/stores';
import type {
  CallTimeline,
  DeliveriesPage,
  DeliveryDetail,
  FailureCauses,
} from '../src/api-types.ts';
import { callBody, failing, NOW, open, recordingBody, storeWithClock, wrote } from './support.ts';

describe('api/deliveries', () => {
  it('lists those of all processes, newest first, page by page, and none twice', async () => {
    const { get, log } = open();
    for (let made = 0; made < 130; made += 1)
      await wrote(log, [{ outcome: 'handled', webhookId: `w${made}`, at: NOW + made }], {
        id: `p${made % 3}`,
      });
    const seen: string[] = [];
    let before: string | undefined;
    let pages = 0;
    do {
      const query = before === undefined ? '' : `?before=${before}`;
      const page = await get<DeliveriesPage>(`/api/deliveries${query}`);
      expect(page.deliveries.length).toBeGreaterThanOrEqual(pages < 2 ? 50 : 1);
      seen.push(...page.deliveries.map(({ id }) => id));
      ({ before } = page);
      pages += 1;
      await wrote(log, [{ outcome: 'handled', webhookId: 'new', at: NOW + 1_000 }]);
    } while (before !== undefined);
    expect(seen).toEqual(Array.from({ length: 130 }, (_, index) => `w${129 - index}`));
  });

  it('filters by each condition, and by text', async () => {
    const { get, log } = open();
    await wrote(log, [
      { outcome: 'handled', eventName: 'call:started', callId: 'c1', webhookId: 'w1' },
      { outcome: 'handler-failed', eventName: 'call:completed', callId: 'c1', error: 'No CRM' },
      { outcome: 'replayed', tenant: 'acme', at: NOW + 1 },
      { outcome: 'handled', source: 'redrive', key: 'c2:call:completed', at: NOW + 2 },
    ]);
    const found = async (query: string) => {
      const { deliveries } = await get<DeliveriesPage>(`/api/deliveries?${query}`);
      return deliveries.map(({ outcome, source }) => `${source} ${outcome}`);
    };
    expect(await found('')).toHaveLength(4);
    expect(await found('result=failed')).toEqual(['webhook handler-failed']);
    expect(await found('result=rejected')).toEqual(['webhook replayed']);
    expect(await found('outcome=handled&source=webhook')).toEqual(['webhook handled']);
    expect(await found('event=call:started')).toEqual(['webhook handled']);
    expect(await found('call=c1')).toHaveLength(2);
    expect(await found('tenant=acme')).toEqual(['webhook replayed']);
    expect(await found('text=no%20crm')).toEqual(['webhook handler-failed']);
    expect(await found('text=C2:CALL')).toEqual(['redrive handled']);
    expect(await found('text=w1&result=failed')).toEqual([]);
    expect(await get('/api/deliveries?text=nothing')).toMatchObject({
      ...{ deliveries: [], searched: 4, searchedTo: NOW },
      eventNames: ['call:completed', 'call:started'],
      tenants: ['acme'],
    });
  });

  it('of a time, of a version of the app, and of a cause', async () => {
    const { get, log, clock } = open();
    clock.now = NOW + 60_000;
    const failed = { outcome: 'handler-failed' as const };
    await wrote(log, [{ outcome: 'handled', webhookId: 'old', at: NOW - 3_600_000 }], {
      ...{ id: 'p1', version: '1.0', at: NOW - 3_600_000 },
    });
    await wrote(
      log,
      [
        { ...failed, webhookId: 'f1', error: 'The handler failed: no contact c-1', at: NOW },
        { ...failed, webhookId: 'f2', error: 'The handler failed: no contact c-2', at: NOW + 1 },
        { ...failed, webhookId: 'f3', error: 'The CRM responded 503', at: NOW + 2 },
        { outcome: 'handled', webhookId: 'new', at: NOW + 3 },
      ],
      { id: 'p2', version: '2.0' },
    );
    const found = async (query: string) =>
      (await get<DeliveriesPage>(`/api/deliveries?${query}`)).deliveries.map(({ id }) => id);
    expect(await found(`since=${NOW}&until=${NOW + 2}`)).toEqual(['f2', 'f1']);
    expect(await found(`until=${NOW}`)).toEqual(['old']);
    expect(await found('version=1.0')).toEqual(['old']);
    expect(await found('version=2.0&result=handled')).toEqual(['new']);
    const { causes, failures } = await get<FailureCauses>('/api/failures');
    expect(failures).toBe(3);
    expect(causes).toMatchObject([
      { text: 'no contact …', count: 2, firstAt: NOW, lastAt: NOW + 1, outcome: 'handler-failed' },
      { text: 'The CRM responded 503', count: 1 },
    ]);
    expect(await found(`cause=${causes[0]?.id ?? ''}`)).toEqual(['f2', 'f1']);
    expect(await found('cause=unknown')).toEqual([]);
    const later = await get<FailureCauses>(`/api/failures?since=${NOW + 2}`);
    expect(later.causes).toMatchObject([{ text: 'The CRM responded 503' }]);
    const page = await get<DeliveriesPage>('/api/deliveries');
    expect(page).toMatchObject({ versions: ['1.0', '2.0'], keptSince: NOW - 3_600_000 });
  });

  it('failures say how many of their events are still open: neither handled nor dead-lettered', async () => {
    const states: Readonly<Record<string, EventState | undefined>> = {
      ...{ a: 'handled', b: 'dead-lettered', c: 'failed', d: 'running', e: undefined },
    };
    const store = { ...storeWithClock(() => NOW) };
    const peek = jest.fn(async (keys: readonly string[]) => keys.map((key) => states[key]));
    const { get, log } = open({ receiving: { store: { ...store, peek } } });
    const failed = { outcome: 'handler-failed' as const, eventName: 'call:completed' };
    // In an order other than that of the list.
    await wrote(log, [
      ...['e', 'a', 'a', 'c', 'b', 'd'].map((key, at) => ({
        ...{ ...failed, key, error: 'The handler failed: all states', at: NOW - at },
      })),
      ...['b', 'a'].map((key) => ({ ...failed, key, error: 'settled' })),
      { outcome: 'handler-failed', error: 'The handler failed: no key', at: NOW - 9 },
    ]);
    const of = {
      id: expect.any(String),
      outcome: 'handler-failed',
      eventNames: ['call:completed'],
    };
    expect(await get<FailureCauses>('/api/failures')).toEqual({
      causes: [
        ...[
          {
            ...of,
            text: 'all states',
            count: 6,
            events: 5,
            open: 3,
            firstAt: NOW - 5,
            lastAt: NOW,
          },
        ],
        ...[{ ...of, text: 'settled', count: 2, events: 2, open: 0, firstAt: NOW, lastAt: NOW }],
        {
          ...{ ...of, text: 'no key', count: 1, events: 0, open: 0, eventNames: ['unknown'] },
          ...{ firstAt: NOW - 9, lastAt: NOW - 9 },
        },
      ],
      ...{ failures: 9, searchedTo: NOW - 26 * 3_600_000 },
    });
    // Each event once.
    expect(peek.mock.calls.map(([keys]) => [...keys].sort())).toEqual([['a', 'b', 'c', 'd', 'e']]);
  });

  it('events of failures beyond the first 1,000 count as open, and none do without peek()', async () => {
    const peek = jest.fn(async (keys: readonly string[]) => keys.map(() => 'handled' as const));
    const { log, ...store } = storeWithClock(() => NOW);
    const keys = Array.from({ length: 1_001 }, (_, at) => `k${String(at)}`);
    for (let from = 0; from < keys.length; from += 50)
      await wrote(
        log as OutcomeLog,
        keys.slice(from, from + 50).map((key) => ({ outcome: 'handler-failed', error: 'no', key })),
      );
    const openIn = async (peeking: object) => {
      const { get } = open({ receiving: { store: { ...store, log, ...peeking } } });
      return (await get<FailureCauses>('/api/failures')).causes.map(({ open: left }) => left);
    };
    expect([await openIn({ peek }), peek.mock.calls[0]?.[0].length]).toEqual([[1], 1_000]);
    expect(await openIn({ peek: undefined })).toEqual([null]);
  });

  it('offers the tenants and events that the log knows, whatever is listed', async () => {
    const { get, log } = open();
    const marks = {
      ...{ 'ack/acme/call:started/blue': NOW, 'failed/globex/call:completed/blue': NOW },
      // Of no tenant, and of what is not named.
      ...{ 'ack//call:started/blue': NOW, 'ack/*/*/blue': NOW, 'ack/acme/*/*': NOW },
    };
    await wrote(log, [{ outcome: 'handled', tenant: 'acme' }], { marks });
    expect(await get('/api/deliveries?tenant=acme')).toMatchObject({
      tenants: ['acme', 'globex'],
      eventNames: ['call:completed', 'call:started'],
    });
  });

  it('says how far back the log goes: never later than a row that it lists', async () => {
    const { get, log, clock } = open();
    const at = NOW - 3 * 3_600_000 + 123_456;
    for (const minutesAgo of [0, 1, 2, 60, 120])
      await wrote(log, [{ outcome: 'handled', at: NOW - minutesAgo * 60_000 }]);
    await wrote(log, [{ outcome: 'handled', at: at + 240_000 }]);
    await wrote(log, [{ outcome: 'handled', at }]);
    const page = await get<DeliveriesPage>('/api/deliveries');
    expect(page.keptSince).toBe(at);
    // What a process could not write earlier.
    await wrote(log, [{ outcome: 'handled', at: at - 60_000 }]);
    clock.now += 1_000;
    expect((await get<DeliveriesPage>('/api/deliveries')).keptSince).toBe(at - 60_000);
  });

  it('offers 50 events and tenants at most', async () => {
    const { get, log } = open();
    const marks = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`ack/tenant-${at}/event-${at}/blue`, NOW]),
    );
    await wrote(log, [{ outcome: 'handled' }], { marks });
    const { eventNames, tenants } = await get<DeliveriesPage>('/api/deliveries');
    expect([eventNames.length, tenants.length]).toEqual([50, 50]);
  });

  it('names what each came to, and gives those without a webhook id an id of their own', async () => {
    const { get, log } = open();
    const refused = { outcome: 'signature-mismatch' as const };
    await wrote(log, [refused, refused, { outcome: 'dead-lettered', webhookId: 'w1' }]);
    const { deliveries } = await get<DeliveriesPage>('/api/deliveries');
    expect(deliveries.map(({ result }) => result).sort()).toEqual([
      ...['dead-letter', 'rejected', 'rejected'],
    ]);
    expect(new Set(deliveries.map(({ id }) => id)).size).toBe(3);
  });
});

describe('api/deliveries/:id', () => {
  it('has all outcomes of a webhook id, what the store knows, and its dead letter', async () => {
    const { get, deliver, log, deadLetters } = open({ receiving: { on: failing, maxAttempts: 1 } });
    await deliver(callBody('c1'));
    const { letters } = await deadLetters.list();
    const of = { webhookId: 'w/1', key: 'c1:call:completed', callId: 'c1' };
    await wrote(log, [{ outcome: 'queued', ...of }]);
    await wrote(log, [{ outcome: 'dead-lettered', source: 'queue', at: NOW + 9, ...of }]);
    await wrote(log, [{ outcome: 'handled', webhookId: 'other' }]);
    const detail = await get<DeliveryDetail>('/api/deliveries/w%2F1');
    expect(detail).toMatchObject({ state: 'dead-lettered', deadLetterId: letters[0]?.id });
    expect(detail.deliveries.map(({ source }) => source)).toEqual(['queue', 'webhook']);
    expect(await get('/api/deliveries/unknown')).toEqual({
      ...{ deliveries: [], state: null, deadLetterId: null, isLetterGone: false },
    });
  });
});

describe('api/deliveries/:id of what came twice', () => {
  it('has the state of the event, which its latest outcome does not name', async () => {
    const { get, deliver, log } = open();
    await deliver(callBody('c1'));
    const of = { webhookId: 'w1', key: 'c1:call:completed' };
    await wrote(log, [{ outcome: 'handled', ...of }]);
    await wrote(log, [{ outcome: 'replayed', at: NOW + 9, webhookId: 'w1' }]);
    const { deliveries, state } = await get<DeliveryDetail>('/api/deliveries/w1');
    expect([deliveries.map(({ outcome }) => outcome), state]).toEqual([
      ['replayed', 'handled'],
      'handled',
    ]);
  });
});

describe('api/calls', () => {
  it('shows the three events of a call, as the store knows them, and their deliveries', async () => {
    const { deliver, get, log } = open({
      receiving: {
        on: {
          ...failing,
          'call:started': () => undefined,
          'call:recording-available': () => undefined,
        },
        maxAttempts: 2,
      },
    });
    await deliver(callBody('c1', 'call:started'));
    await deliver(callBody('c1'));
    const call = async () => get<CallTimeline>('/api/calls/c1');
    expect((await call()).events.map(({ state }) => state)).toEqual(['handled', 'failed', null]);
    await deliver(callBody('c1'));
    await wrote(log, [
      { outcome: 'handled', eventName: 'call:started', callId: 'c1', webhookId: 'w1' },
      { outcome: 'ignored', eventName: 'crm:note', callId: 'c1', key: 'event:crm:n1' },
      { outcome: 'handled', eventName: 'call:started', callId: 'c2' },
    ]);
    const { callId, events } = await call();
    expect(callId).toBe('c1');
    expect(events.map(({ eventName, state }) => [eventName, state])).toEqual([
      ['call:started', 'handled'],
      ['call:completed', 'dead-lettered'],
      ['call:recording-available', null],
      ['crm:note', null],
    ]);
    expect(events[0]?.deliveries).toMatchObject([{ webhookId: 'w1', outcome: 'handled' }]);
    expect(events[1]?.deadLetter).toMatchObject({ callId: 'c1', reason: 'handler-failed' });
    await deliver(recordingBody('c1'));
    expect((await call()).events[2]?.state).toBe('handled');
  });

  it('says that a dead letter is gone only if its store answers so', async () => {
    const { deliver, get, deadLetters } = open({ receiving: { on: failing, maxAttempts: 1 } });
    await deliver(callBody('c1'));
    const gone = async () => {
      const { events } = await get<CallTimeline>('/api/calls/c1');
      return events.map(({ state, deadLetter, isLetterGone }) => [
        ...[state, deadLetter !== undefined, isLetterGone],
      ])[1];
    };
    expect(await gone()).toEqual(['dead-lettered', true, false]);
    const [letter] = (await deadLetters.list()).letters;
    await deadLetters.remove(letter?.id ?? '');
    expect(await gone()).toEqual(['dead-lettered', false, true]);
    deadLetters.get = () => Promise.reject(new Error('connect ECONNREFUSED'));
    expect(await gone()).toEqual(['dead-lettered', false, false]);
  });

  it('of a tenant is another one', async () => {
    const store = memoryStore();
    const { get, receiver } = open({
      receiving: { store, tenant: () => 'a', secret: () => undefined },
    });
    const event = { eventName: 'call:completed', callId: 'c1' };
    await receiver.deliver(event, { source: 'reconcile', tenant: 'a:b' });
    const state = async (tenant: string) =>
      (await get<CallTimeline>(`/api/calls/c1?tenant=${tenant}`)).events[1]?.state;
    expect(await state('a:b')).toBe('handled');
    expect(await state('a')).toBeNull();
  });

  it('without a tenant is that of the only one that had it, and otherwise not known; a tenant sees its own', async () => {
    const { get, receiver, log } = open({
      receiving: { tenant: () => 'acme', secret: () => undefined },
    });
    const deliver = async (tenant: string) => {
      const event = { eventName: 'call:completed', callId: 'c1' };
      await receiver.deliver(event, { source: 'reconcile', tenant });
      await wrote(log, [{ outcome: 'handled', ...event, tenant, webhookId: `of-${tenant}` }]);
    };
    const states = async (callId: string) => {
      const { tenant, events } = await get<CallTimeline>(`/api/calls/${callId}`);
      return [tenant, ...events.map(({ state }) => state)];
    };
    await deliver('acme');
    expect(await states('c1')).toEqual(['acme', null, 'handled', null]);
    expect(await states('never-came')).toEqual([null, 'unknown', 'unknown', 'unknown']);
    await deliver('globex');
    expect(await states('c1')).toEqual([null, 'unknown', 'unknown', 'unknown']);
    for (const tenant of ['acme', 'globex']) {
      const { events } = await get<CallTimeline>(`/api/calls/c1?tenant=${tenant}`);
      const ids = events.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
      expect(ids).toEqual([`of-${tenant}`]);
    }
  });

  it('is shown while the store of dead letters is down, and by a store that cannot tell', async () => {
    const { peek: _peek, log: _log, ...store } = memoryStore();
    const { get, deadLetters } = open({ receiving: { store } });
    deadLetters.get = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const { events } = await get<CallTimeline>('/api/calls/c1');
    expect(events.map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown']);
  });
});
