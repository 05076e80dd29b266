import { describe, expect, it } from '@jest/globals';
import type { CallTimeline, DeliveriesPage } from '../src/api-types.ts';
import { consoleStats } from '../src/index.ts';
import { callBody, open, recordingBody } from './support.ts';

const failing = {
  'call:completed': () => {
    throw new Error('the CRM said no to Grace Hopper');
  },
};

describe('api/deliveries', () => {
  it('lists the latest first, a page at a time', async () => {
    const { deliver, get } = open();
    for (const call of ['c1', 'c2', 'c3', 'c4', 'c5']) await deliver(callBody(call));
    const first = await get<DeliveriesPage>('/api/deliveries?limit=2');
    expect(first).toMatchObject({ matching: 5, kept: 5, capacity: 1_000 });
    expect(first.deliveries.map(({ callId }) => callId)).toEqual(['c5', 'c4']);
    await deliver(callBody('c6'));
    const second = await get<DeliveriesPage>(
      `/api/deliveries?limit=2&before=${first.cursor ?? ''}`,
    );
    expect(second.deliveries.map(({ callId }) => callId)).toEqual(['c3', 'c2']);
    const last = await get<DeliveriesPage>(`/api/deliveries?limit=2&before=${second.cursor ?? ''}`);
    expect(last.deliveries.map(({ callId }) => callId)).toEqual(['c1']);
    expect(last.cursor).toBeUndefined();
  });

  it('keeps only as many as it was told', async () => {
    const { deliver, get } = open({ stats: consoleStats({ capacity: 3 }) });
    for (const call of ['c1', 'c2', 'c3', 'c4', 'c5']) await deliver(callBody(call));
    const page = await get<DeliveriesPage>('/api/deliveries');
    expect(page.deliveries.map(({ callId }) => callId)).toEqual(['c5', 'c4', 'c3']);
    expect(page).toMatchObject({ kept: 3, capacity: 3 });
  });

  it('filters', async () => {
    const { clock, deliver, receiver, get } = open({ receiving: { on: failing } });
    await deliver(callBody('c1'));
    await deliver(callBody('c1', 'call:started'));
    clock.now += 1_000;
    await deliver(callBody('c2', 'call:started'));
    await receiver.receive({ method: 'GET', headers: {}, body: new Uint8Array() });
    const found = async (query: string) => {
      const { deliveries } = await get<DeliveriesPage>(`/api/deliveries?${query}`);
      return deliveries.map(({ outcome, callId = '-' }) => `${outcome} ${callId}`);
    };
    expect(await found('outcome=handler-failed,method-not-allowed')).toEqual([
      'method-not-allowed -',
      'handler-failed c1',
    ]);
    expect(await found('result=failed')).toEqual(['handler-failed c1']);
    expect(await found('result=refused')).toEqual(['method-not-allowed -']);
    expect(await found('event=call:started')).toEqual(['ignored c2', 'ignored c1']);
    expect(await found('call=c2')).toEqual(['ignored c2']);
    expect(await found('tenant=acme')).toEqual([]);
    expect(await found('source=queue')).toEqual([]);
    expect(await found('text=SAID%20NO')).toEqual(['handler-failed c1']);
    expect(await found(`until=${String(clock.now)}`)).toEqual(['ignored c1', 'handler-failed c1']);
    expect(await found(`since=${String(clock.now)}&call=c1`)).toEqual([]);
  });

  it('has errors without personal data', async () => {
    const { deliver, get } = open({ receiving: { on: failing } });
    await deliver(callBody('c1', 'call:completed', { recipientName: 'Grace Hopper' }));
    const { deliveries } = await get<DeliveriesPage>('/api/deliveries');
    expect(deliveries[0]?.error).toMatchObject({ code: 'handler-failed' });
    expect(deliveries[0]?.error?.message).toContain('the CRM said no to');
    expect(JSON.stringify(deliveries)).not.toContain('Hopper');
  });

  it.each(['limit=0', 'limit=201', 'limit=1e2', 'before=x', 'outcome=nonsense', 'since=-1', 'a=b'])(
    'refuses %s',
    async (query) => {
      const { ask } = open();
      const response = await ask(`/api/deliveries?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid-request' } });
    },
  );
});

it.each([
  ['limit=999999', 'limit: expected a whole number from 1 to 200'],
  ['before=x', 'before: expected a whole number'],
  ['until=soon', 'until: expected a whole number'],
  ['outcome=nonsense', 'outcome: expected one or more of'],
  ['result=won', 'result: expected one or more of'],
  ['text=a&text=b', 'text: it is repeated'],
  [`call=${'x'.repeat(301)}`, 'call: it has more than 300 characters'],
])('names the parameter that is wrong in %s', async (query, problem) => {
  const { ask } = open();
  expect(await (await ask(`/api/deliveries?${query}`)).text()).toContain(
    `The request cannot be used: ${problem}`,
  );
});

describe('api/calls', () => {
  it('shows the three events of a call and what became of them', async () => {
    const { deliver, get } = open({ receiving: { on: failing, maxAttempts: 2 } });
    await deliver(callBody('c1', 'call:started'));
    await deliver(callBody('c1'));
    await deliver(callBody('c1'));
    await deliver(callBody('c2'));
    const { callId, events } = await get<CallTimeline>('/api/calls/c1');
    expect(callId).toBe('c1');
    expect(events.map(({ eventName, state }) => [eventName, state])).toEqual([
      ['call:started', 'handled'],
      ['call:completed', 'dead-lettered'],
      ['call:recording-available', 'not-seen'],
    ]);
    expect(events[1]?.deliveries.map(({ outcome }) => outcome)).toEqual([
      'handler-failed',
      'dead-lettered',
    ]);
    expect(events[1]?.deadLetter).toMatchObject({ callId: 'c1', reason: 'handler-failed' });
  });

  it('shows other events after them, and finds the letter of a recording', async () => {
    const on = { 'call:recording-available': failing['call:completed'] };
    const { deliver, get } = open({ receiving: { on, maxAttempts: 1 } });
    await deliver(recordingBody('c1'));
    await deliver('{"eventName":"call:rated","callId":"c1"}');
    const { events } = await get<CallTimeline>('/api/calls/c1');
    expect(events.map(({ eventName, state }) => [eventName, state])).toEqual([
      ['call:started', 'not-seen'],
      ['call:completed', 'not-seen'],
      ['call:recording-available', 'dead-lettered'],
      ['call:rated', 'handled'],
    ]);
    expect(events[2]?.deadLetter).toMatchObject({ eventName: 'call:recording-available' });
  });

  it('shows the deliveries while the store of dead letters fails', async () => {
    const { deliver, get, deadLetters } = open();
    await deliver(callBody('c1'));
    deadLetters.get = () => Promise.reject(new Error('gone'));
    const { events } = await get<CallTimeline>('/api/calls/c1');
    expect(events[1]).toMatchObject({ state: 'handled', deadLetterUnknown: true });
  });

  it('takes any id, and shows it as log lines do', async () => {
    const { get } = open();
    const { callId, events } = await get<CallTimeline>(
      `/api/calls/${encodeURIComponent('../a/b?c#d +49 170 1234567')}`,
    );
    expect(callId).not.toContain('1234567');
    expect(events).toHaveLength(3);
  });
});
