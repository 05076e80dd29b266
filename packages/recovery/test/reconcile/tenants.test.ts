import { describe, expect, it } from '@jest/globals';
import { memoryStore, type Store } from '@call-webhooks/core';
import { counterName } from '@call-webhooks/core/stores';
import { reconcile, type ReconcileReceiver } from '@call-webhooks/recovery';
import { call, clock, listing, since } from '../support/call-lists.ts';
import { HOUR, STARTED_AT } from '../support/world.ts';

/** As a command has it, which knows the receiver by its URL alone. */
const distant: ReconcileReceiver = { deliver: async () => ({ outcome: 'handled' }) };

async function storeOf(tenants: readonly string[]): Promise<Store> {
  let now = STARTED_AT;
  const store = memoryStore({ now: () => now });
  now = clock.now();
  await store.log?.append({
    ...{ id: 'batch', rows: [], failures: [], counts: {} },
    process: { id: 'p', host: 'h', pid: 1, startedAt: now - HOUR, at: now, inFlight: 0 },
    marks: Object.fromEntries(
      tenants.map((tenant) => [counterName('ack', tenant, 'call:completed', 's'), now - HOUR]),
    ),
  });
  return store;
}

const run = (store: Store, more: object = {}) => {
  const { client } = listing([[call(15)]]);
  return reconcile({ client, receiver: distant, store, since, clock, ...more });
};

describe('a receiver that does not say whether it has tenants', () => {
  it.each([true, false])('is asked which one it is, dry run: %s', async (dryRun) => {
    const refused = run(await storeOf(['beta', 'acme']), { dryRun });
    await expect(refused).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(refused).rejects.toThrow(
      "the store has deliveries of tenants: acme, beta. Pass the tenant whose calls the client lists, such as { tenant: 'acme' }.",
    );
    const five = ['a', 'b', 'c', 'd', 'e'];
    await expect(run(await storeOf(five), { dryRun })).rejects.toThrow('a, b, c, d, e. Pass');
    const many = [...five, 'f'];
    await expect(run(await storeOf(many), { dryRun })).rejects.toThrow('a, b, c, d, e, …. Pass');
  });

  it('is taken at its word, and for one without tenants if the log knows none', async () => {
    expect(await run(await storeOf(['acme']), { tenant: 'acme' })).toMatchObject({ missed: 1 });
    expect(await run(await storeOf([''])).then(({ missed }) => missed)).toBe(1);
    const receiver = { ...distant, hasTenants: false };
    expect(await run(await storeOf(['acme']), { receiver })).toMatchObject({ missed: 1 });
    const { log: _, ...blind } = await storeOf(['acme']);
    expect(await run(blind, { dryRun: true })).toMatchObject({ missed: 1 });
  });
});
