import { afterEach, describe, expect, it } from '@jest/globals';
import { THIS_VERSION } from '../src/checkout.ts';
import { checkFilled, newEvents } from '../src/events/filled-store.ts';
import { openSqlite } from '../src/events/sqlite.ts';
import { costOf } from '../src/stores/load.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The database that needs no server. */
async function filled(size: number) {
  const database = await openSqlite(THIS_VERSION);
  stops.push(() => database.stop());
  return database.fill(size);
}

describe('a filled store', () => {
  it('knows its events as if they had been delivered', async () => {
    const store = await filled(500);
    await checkFilled(store, 500);
    expect(store.bytesPerEvent).toBeGreaterThan(100);
    expect(store.bytesPerEvent).toBeLessThan(1_000);
  });

  it('is refused when it is not what it should be', async () => {
    const store = await filled(100);
    await expect(checkFilled(store, 101)).rejects.toThrow('100 of 101 events');
    const unknown = { ...store, known: { webhookId: 'another', key: 'another' } };
    await expect(checkFilled(unknown, 100)).rejects.toThrow('is admitted and');
  });

  it('sweeps as many events as it gets, and keeps its size', async () => {
    const store = await filled(1_000);
    const path = newEvents(store.store, 1_000);
    for (let turn = 0; turn < 2; turn++) {
      await store.expire(200);
      await costOf(path, 200, 16);
      expect(await store.count()).toBe(1_000);
    }
  });
});
