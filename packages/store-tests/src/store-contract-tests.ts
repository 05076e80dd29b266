import { afterAll, beforeAll, describe } from '@jest/globals';
import { batches } from './store/batches.ts';
import { cursors } from './store/cursors.ts';
import { deadLettered } from './store/dead-lettered.ts';
import { events } from './store/events.ts';
import { expiry } from './store/expiry.ts';
import { groups } from './store/groups.ts';
import { newerTables } from './store/newer-tables.ts';
import { outcomeLog } from './store/outcome-log.ts';
import { peek } from './store/peek.ts';
import { storeIsReady } from './store/ready.ts';
import { skewedClocks } from './store/skewed-clocks.ts';
import {
  LEASE_MS,
  REMEMBER_MS,
  type Effects,
  type OpenedStore,
  type StoreTestContext,
  type StoreUnderTest,
  type UnderTest,
} from './store/under-test.ts';
import { transactions } from './store/transactions.ts';
import { webhookIds } from './store/webhook-ids.ts';
import { unique } from './unique.ts';

/** What every store must do. Those `without` a log, or without `peek`, have to say so. */
export function storeContractTests({ without = [], ...subject }: StoreUnderTest): void {
  describe(`${subject.name}: store contract tests`, () => {
    const opened = opening(subject);
    const context = contextOf(opened);
    events(context);
    deadLettered(context);
    groups(context);
    batches(context);
    webhookIds(context);
    cursors(context);
    newerTables(context);
    expiry(context, { canPeek: !without.includes('peek') });
    if (!without.includes('clock')) skewedClocks(context, (ms) => opened().skewed!(ms));
    if (!without.includes('refusals')) storeIsReady(context, () => opened().refusals);
    if (!without.includes('peek')) peek(context);
    if (!without.includes('log')) outcomeLog(context);
  });
}

/** What a store with `completeIn` must do in the transactions of a client. */
export function completeInContractTests(subject: UnderTest<OpenedStore & Effects>): void {
  describe(`${subject.name}: contract tests of completeIn`, () => {
    const opened = opening(subject);
    transactions(contextOf(opened), {
      transact: (work) => opened().transact(work),
      committed: (effect) => opened().committed(effect),
    });
  });
}

/** Opens a store before the tests, and closes it after them. */
function opening<Opened extends OpenedStore>({ open }: UnderTest<Opened>): () => Opened {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => opened.close?.());
  return () => opened;
}

const contextOf = (opened: () => OpenedStore): StoreTestContext => ({
  store: () => opened().store,
  connections: () => [opened().store, ...(opened().others ?? [])],
  claim: (key, more) => ({
    webhookId: unique('webhook'),
    replayUntil: opened().now() + REMEMBER_MS,
    leaseMs: LEASE_MS,
    token: unique('token'),
    ...(key !== undefined && { key }),
    ...more,
  }),
  now: () => opened().now(),
  advance: async (ms) => opened().advance(ms),
  async setNewer(isNewer) {
    await opened().setNewer?.(isNewer);
    return opened().setNewer !== undefined;
  },
});
