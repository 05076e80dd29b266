import { afterAll, beforeAll, describe } from '@jest/globals';
import { events } from './store/events.ts';
import {
  LEASE_MS,
  REMEMBER_MS,
  type OpenedStore,
  type StoreBench,
  type StoreUnderTest,
} from './store/under-test.ts';
import { webhookIds } from './store/webhook-ids.ts';
import { unique } from './unique.ts';

/** What every store must do, whatever it is made of. */
export function storeBattery(subject: StoreUnderTest): void {
  describe(`${subject.name}: the store battery`, () => {
    let opened: OpenedStore;
    beforeAll(async () => {
      opened = await subject.open();
    });
    afterAll(async () => opened.close?.());

    const bench: StoreBench = {
      store: () => opened.store,
      all: () => [opened.store, ...(opened.others ?? [])],
      claim: (key, more) => ({
        webhookId: unique('webhook'),
        replayUntil: opened.now() + REMEMBER_MS,
        leaseMs: LEASE_MS,
        token: unique('token'),
        ...(key !== undefined && { key }),
        ...more,
      }),
      turn: async (ms) => opened.turn(ms),
    };
    events(bench);
    webhookIds(bench);
  });
}
