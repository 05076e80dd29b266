import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { memoryStore } from '@call-webhooks/core';
import type { Overview } from '../src/api-types.ts';
import { NOW, open, wrote } from './support.ts';

describe('the status', () => {
  it('is that of all events, in one line and in full', async () => {
    const { get, log, clock, deadLetters } = open();
    expect((await get<Overview>('/api/overview')).status).toMatchObject({
      ...{ attention: [], line: 'No verified delivery has arrived in the last 30 days.' },
    });
    await wrote(log, [{ outcome: 'dead-lettered', eventName: 'call:completed' }], {
      marks: { 'ack//call:completed/blue': NOW },
    });
    await deadLetters.put(deadLetter({ eventName: 'call:completed' }));
    clock.now += 11_000; // it is kept for 10 seconds
    const { status } = await get<Overview>('/api/overview');
    expect(status.line).toContain('1 thing needs attention');
    expect(status.attention).toMatchObject([
      { kind: 'failing', urgent: false, eventName: 'call:completed', fix: expect.any(String) },
    ]);
    // As long as it waits, and no longer.
    const [letter] = (await deadLetters.list()).letters;
    await deadLetters.remove(letter?.id ?? '');
    clock.now += 11_000;
    expect((await get<Overview>('/api/overview')).status.attention).toEqual([]);
  });

  it('has its times in the zone that is asked for', async () => {
    const { get, log } = open();
    await wrote(log, [{ outcome: 'handled' }], {
      marks: { 'ack//call:completed/blue': NOW - 5 * 3_600_000 },
    });
    const line = async (zone: string) =>
      (await get<Overview>(`/api/overview?timeZone=${zone}`)).status.line;
    expect(await line('UTC')).toContain('07:00 UTC');
    expect(await line('Asia/Kathmandu')).toContain('12:45');
    expect(await get('/api/overview?timeZone=Nowhere')).toMatchObject({
      error: { code: 'invalid-request' },
    });
  });

  it('is that of one tenant, if it is asked for', async () => {
    const receiving = { tenant: () => 'acme', secret: () => undefined };
    const { get, log, deadLetters } = open({ receiving });
    await deadLetters.put(deadLetter({ eventName: 'call:completed', tenant: 'acme' }));
    await wrote(log, [{ outcome: 'dead-lettered', eventName: 'call:completed', tenant: 'acme' }], {
      marks: {
        'ack/acme/call:completed/a': NOW,
        'ack/globex/call:completed/g': NOW,
      },
      arrivals: { 'call:completed/globex': 1 },
    });
    const of = async (tenant: string) => (await get<Overview>(`/api/overview?${tenant}`)).status;
    const all = await of('');
    expect(all).toMatchObject({ tenants: ['acme', 'globex'], events: [{}, {}] });
    const acme = await of('tenant=acme');
    expect(acme.events).toMatchObject([{ tenant: 'acme' }]);
    expect(acme.tenants).toEqual(['acme', 'globex']);
    const globex = await of('tenant=globex');
    const told = (status: typeof all) => ({
      line: status.line,
      attention: status.attention.map((one) => one.tenant),
      groups: status.groups.map(({ items }) => items.map((one) => one.tenant)),
      events: status.events.map((one) => one.tenant),
    });
    const failing = '1 thing needs attention: `call:completed` of acme is failing.';
    expect([all, acme, globex].map(told)).toEqual([
      { line: failing, attention: ['acme'], groups: [['acme']], events: ['acme', 'globex'] },
      { line: failing, attention: ['acme'], groups: [['acme']], events: ['acme'] },
      {
        line: '`call:completed` of globex is arriving.',
        ...{ attention: [], groups: [], events: ['globex'] },
      },
    ]);
  });

  it('says that the store is down, as the health does', async () => {
    const store = memoryStore();
    const { get } = open({ receiving: { store } });
    store.ping = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:6379'));
    const { status, health } = await get<Overview>('/api/overview');
    expect([health.ok, status.line]).toEqual([
      false,
      expect.stringContaining('the store does not'),
    ]);
  });
});
