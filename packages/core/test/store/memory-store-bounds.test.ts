import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { Lines, NOW } from '../support.ts';
import { setup } from './memory-store-setup.ts';

describe('a full memoryStore', () => {
  it('warns once by default, through its logger', async () => {
    const logger = new Lines();
    const store = memoryStore({ maxEntries: 1, now: () => NOW, logger });
    for (const webhookId of ['a', 'b', 'c'])
      await store.admit({ webhookId, token: webhookId, leaseMs: 1, replayUntil: NOW + 1_000 });
    expect(logger.entries).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(/maxEntries.* Durable Objects store/) as unknown,
        fields: { docs: expect.stringMatching(/stores\.html#memory$/) as unknown },
      },
    ]);
  });

  it('warns on the console without a logger', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const store = memoryStore({ maxEntries: 1, now: () => NOW });
    for (const webhookId of ['a', 'b'])
      await store.admit({ webhookId, token: webhookId, leaseMs: 1, replayUntil: NOW + 1_000 });
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('counts leases that ran out among the events, whose number is bounded', async () => {
    const { clock, evicted, store, admit } = setup({ maxEntries: 1 });
    await admit('hangs', 'a');
    await admit('done', 'b');
    await store.complete('done', 'b');
    clock.now += 60_001;
    await admit('other', 'c');
    expect(evicted.filter((kind) => kind === 'event')).toHaveLength(1);
  });
});

describe('the leases of memoryStore', () => {
  it('expires leases of different lengths by the clock', async () => {
    let clock = 1_000_000;
    const store = memoryStore({ now: () => clock });
    const claim = (key: string, leaseMs: number) => ({
      webhookId: `w-${key}-${String(clock)}`,
      replayUntil: clock + 300_000,
      leaseMs,
      token: `t-${key}-${String(clock)}`,
      key,
    });
    await store.admit(claim('long', 60_000));
    const short = claim('short', 1_000);
    await store.admit(short);
    clock += 2_000;
    expect(await store.complete('short', short.token)).toBe(false);
    expect(await store.admit(claim('short', 1_000))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('frees a group whose lease ran out behind a longer one, and forgets it when it is done', async () => {
    const { clock, store } = setup();
    const claim = (key: string, leaseMs: number, group?: string) => ({
      ...{ webhookId: `w-${key}`, token: `t-${key}`, key, leaseMs, group },
      replayUntil: clock.now + 300_000,
    });
    await store.admit(claim('long', 60_000));
    await store.admit(claim('short', 1_000, 'call-1'));
    expect(await store.admit(claim('next', 1_000, 'call-1'))).toEqual({ status: 'group-busy' });
    clock.now += 2_000;
    const again = await store.admit({ ...claim('next', 1_000, 'call-1'), webhookId: 'w-again' });
    expect(again).toEqual({ status: 'admitted', attempt: 1 });
    const forget = jest.spyOn(Map.prototype, 'delete');
    await store.complete('next', 't-next');
    expect(forget).toHaveBeenCalledWith('call-1');
    forget.mockRestore();
  });
});
