import { afterAll, beforeAll, describe } from '@jest/globals';
import { deadLettered } from './store/dead-lettered.ts';
import { events } from './store/events.ts';
import { groups } from './store/groups.ts';
import {
  LEASE_MS,
  REMEMBER_MS,
  type OpenedStore,
  type StoreTestContext,
  type StoreUnderTest,
} from './store/under-test.ts';
import { webhookIds } from './store/webhook-ids.ts';
import { unique } from './unique.ts';

/** What every store must do. */
export function storeContractTests(subject: StoreUnderTest): void {
  describe(`${subject.name}: store contract tests`, () => {
    let opened: OpenedStore;
    beforeAll(async () => {
      opened = await subject.open();
    });
    afterAll(async () => opened.close?.());

    const context: StoreTestContext = {
      store: () => opened.store,
      connections: () => [opened.store, ...(opened.others ?? [])],
      claim: (key, more) => ({
        webhookId: unique('webhook'),
        replayUntil: opened.now() + REMEMBER_MS,
        leaseMs: LEASE_MS,
        token: unique('token'),
        ...(key !== undefined && { key }),
        ...more,
      }),
      advance: async (ms) => opened.advance(ms),
    };
    events(context);
    deadLettered(context);
    groups(context);
    webhookIds(context);
  });
}
