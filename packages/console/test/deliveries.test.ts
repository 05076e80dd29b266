import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import type { CallTimeline, DeliveriesPage, DeliveryDetail } from '../src/api-types.ts';
import { callBody, failing, NOW, open, recordingBody, wrote } from './support.ts';

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
      ...{ deliveries: [], state: null, deadLetterId: null },
    });
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

  it('without a tenant is that of the only one that had it, and otherwise not known', async () => {
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
  });

  it('is shown while the store of dead letters is down, and by a store that cannot tell', async () => {
    const { peek: _peek, log: _log, ...store } = memoryStore();
    const { get, deadLetters } = open({ receiving: { store } });
    deadLetters.get = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const { events } = await get<CallTimeline>('/api/calls/c1');
    expect(events.map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown']);
  });
});
