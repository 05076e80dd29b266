import { membersAreAsSaid } from './optional-members.ts';
import { testsOf, type TestRunner, type Tests } from './runner.ts';
import { batches } from './store/batches.ts';
import { cursors } from './store/cursors.ts';
import { deadLettered } from './store/dead-lettered.ts';
import { events } from './store/events.ts';
import { expiry } from './store/expiry.ts';
import { forgotten } from './store/forgotten.ts';
import { groups } from './store/groups.ts';
import { growth } from './store/growth.ts';
import { newerTables } from './store/newer-tables.ts';
import { outcomeCounts } from './store/outcome-counts.ts';
import { outcomeLog } from './store/outcome-log.ts';
import { peek } from './store/peek.ts';
import { storeIsReady } from './store/ready.ts';
import { skewedClocks } from './store/skewed-clocks.ts';
import {
  LEASE_MS,
  OPTIONAL_STORE_MEMBERS,
  REMEMBER_MS,
  type Effects,
  type OpenedStore,
  type OptionalStoreMember,
  type StoreTestContext,
  type StoreUnderTest,
  type UnderTest,
} from './store/under-test.ts';
import { transactions } from './store/transactions.ts';
import { webhookIds } from './store/webhook-ids.ts';
import { unique } from './unique.ts';

/**
 * Registers the tests that every store has to pass: call it at the top of a test file, or in a `describe`.
 * What the store lacks, it has to say in `without`.
 * @example
 * import * as runner from 'node:test';
 * import { storeContractTests } from '@call-webhooks/store-tests';
 *
 * storeContractTests(runner, {
 *   name: 'my store',
 *   without: ['log'],
 *   open: async () => ({ store: myStore(), now, advance, skewed, refusals, size }),
 * });
 */
export function storeContractTests(runner: TestRunner, subject: StoreUnderTest): void {
  const tests = testsOf(runner);
  const { name, without = [] } = subject;
  tests.describe(`${name}: store contract tests`, () => {
    const opened = opening(tests, subject);
    const has = (part: (typeof without)[number]) => !without.includes(part);
    const context = contextOf(tests, opened, has);
    membersAreAsSaid(context, 'Store', OPTIONAL_STORE_MEMBERS, context.store, without);
    events(context);
    deadLettered(context);
    if (has('forget')) forgotten(context);
    groups(context);
    batches(context);
    webhookIds(context);
    if (has('loadCursor')) cursors(context);
    newerTables(context);
    expiry(context);
    if (has('size')) growth(context, async () => part(opened(), 'size')());
    if (has('clock')) skewedClocks(context, (ms) => part(opened(), 'skewed')(ms));
    if (has('refusals')) storeIsReady(context, () => opened().refusals);
    if (has('peek')) peek(context);
    if (!has('log')) return;
    outcomeCounts(context);
    outcomeLog(context);
  });
}

/**
 * Registers the tests that a store with `completeIn` has to pass in the transactions of a client. Call it
 * once for each client whose transactions the store takes.
 */
export function completeInContractTests(
  runner: TestRunner,
  subject: UnderTest<OpenedStore & Effects>,
): void {
  const tests = testsOf(runner);
  tests.describe(`${subject.name}: contract tests of completeIn`, () => {
    const opened = opening(tests, subject);
    transactions(
      contextOf(tests, opened, () => true),
      {
        transact: (work) => opened().transact(work),
        committed: (effect) => opened().committed(effect),
      },
      () => opened().client,
    );
  });
}

/** @throws Error if a part is missing that `without` does not name */
function part<Name extends 'size' | 'skewed'>(opened: OpenedStore, name: Name) {
  const found: OpenedStore[Name] = opened[name];
  if (found) return found;
  const named = name === 'skewed' ? 'clock' : name;
  throw new Error(
    `The tests need \`${name}\` of what \`open\` gives, or \`without: ['${named}']\`.`,
  );
}

/** Opens a store before the tests, and closes it after them. */
function opening<Opened extends OpenedStore>(
  { beforeAll, afterAll }: Tests,
  { open }: UnderTest<Opened>,
): () => Opened {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => opened.close?.());
  return () => opened;
}

const contextOf = (
  { it }: Tests,
  opened: () => OpenedStore,
  has: (member: OptionalStoreMember) => boolean,
): StoreTestContext => ({
  it,
  has,
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
