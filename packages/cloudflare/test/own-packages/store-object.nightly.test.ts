import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { unique, waitFor } from '@call-webhooks/contract-tests';
import { type Claim, tenantKey } from '@call-webhooks/core/stores';
import { startStoreWorkers, type StoreWorkers } from './store-workers.ts';
import { callStore, freshFolder, storeAt } from './support.ts';

const ADMITTED = { status: 'admitted', attempt: 1 };
const MINUTE = 60_000;

describe('the object of durableObjectStore in workerd', () => {
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let workers: StoreWorkers;
  beforeAll(async () => {
    folder = await freshFolder();
    workers = await startStoreWorkers(folder.folder);
  });
  afterAll(async () => {
    await workers.close();
    await folder.remove();
  });

  const store = () => storeAt(workers.urls[0]);
  const call = (method: string, ...args: unknown[]) => callStore(workers.urls[0], method, ...args);
  const claim = (key: string, more: Partial<Claim> = {}): Claim & { key: string } => ({
    webhookId: unique('webhook'),
    replayUntil: Date.now() + 10 * MINUTE,
    leaseMs: MINUTE,
    token: unique('token'),
    ...more,
    key,
  });

  it('knows ids, events, leases and cursors after a restart of workerd', async () => {
    const done = claim(unique('event'));
    const running = claim(unique('event'), { leaseMs: 4 * MINUTE });
    await store().admit(done);
    await store().complete(done.key, done.token);
    await store().admit(running);
    await store().saveCursor!('page', '7');
    await workers.close();
    workers = await startStoreWorkers(folder.folder);
    const replay = { ...claim(unique('event')), webhookId: done.webhookId };
    expect(await store().admit(replay)).toEqual({ status: 'replayed' });
    expect(await store().admit(claim(done.key))).toEqual({ status: 'duplicate' });
    expect(await store().admit(claim(running.key))).toEqual({ status: 'in-progress' });
    expect(await store().complete(running.key, running.token)).toBe(true);
    expect(await store().loadCursor!('page')).toBe('7');
  });

  it('takes the completion of a lost answer again, by its own token only', async () => {
    const one = claim(unique('event'));
    await store().admit(one);
    expect(await store().complete(one.key, one.token)).toBe(true);
    expect(await store().complete(one.key, one.token)).toBe(true);
    expect(await store().complete(one.key, one.token, 'dead-lettered')).toBe(false);
    expect(await store().complete(one.key, unique('token'))).toBe(false);
  });

  it('keeps each tenant in an object of its own', async () => {
    const rowsBefore = ((await call('rows')) as object[]).length;
    const webhookId = tenantKey('acme', unique('webhook'));
    const one = claim(tenantKey('acme', unique('event')), { webhookId });
    expect(await store().admit(one)).toEqual(ADMITTED);
    expect(await store().complete(one.key, one.token)).toBe(true);
    expect(await call('rows')).toHaveLength(rowsBefore);
  });

  it('shortens a lease that was taken before the clock was set back', async () => {
    const stuck = claim(unique('event'));
    await call('advance', 60 * MINUTE);
    await store().admit(stuck);
    await call('advance', -60 * MINUTE);
    expect(await store().admit(claim(stuck.key))).toEqual({ status: 'in-progress' });
    await call('advance', MINUTE + 1);
    expect(await store().admit(claim(stuck.key))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('keeps a large body until its job is done, and then knows that it is', async () => {
    await call('keepBody', 'done', 'body', 60 * MINUTE);
    await call('keepBody', 'waiting', 'body', 60 * MINUTE); // deleted by the next test's sweeps
    expect(await call('loadBody', 'done')).toBe('body');
    await call('dropBody', 'done');
    expect(await call('loadBody', 'done')).toBe('');
    expect(await call('loadBody', 'waiting')).toBe('body');
    expect(await call('loadBody', 'unknown')).toBeUndefined();
  });

  it('deletes old rows by its alarm, and sets none once it is empty', async () => {
    await call('sweepOften');
    const one = claim(unique('event'), { group: unique('group') });
    expect(await store().admit(one)).toEqual(ADMITTED);
    const kept = claim(unique('event'), { replayUntil: Date.now() + 60 * MINUTE });
    await call('advance', 20 * MINUTE);
    await store().admit(kept);
    const ids = async () =>
      ((await call('rows')) as { id?: string }[]).flatMap(({ id }) => id ?? []);
    await waitFor(async () => !(await ids()).includes(one.webhookId));
    expect(await store().admit({ ...kept, token: unique('token') })).toEqual({
      status: 'replayed',
    });
    await call('advance', 2 * 24 * 60 * MINUTE);
    await waitFor(async () => ((await call('rows')) as object[]).length === 0);
    await waitFor(async () => (await call('nextSweep')) === null);
    // The next claim plans a sweep again.
    expect(await store().admit(claim(one.key))).toEqual(ADMITTED);
    await waitFor(async () => (await call('nextSweep')) !== null);
  });
});
