import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, queuedCall, unique, waitFor } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { createSqliteWorker, sqliteQueue, sqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

describe('when the wall clock is set', () => {
  const wallClock = Date.now;
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    db.close();
    place.remove();
  });
  const setClock = (ms: number) =>
    jest.spyOn(Date, 'now').mockImplementation(() => wallClock() + ms);
  const claim = (key: string) => ({
    webhookId: unique('webhook'),
    token: unique('token'),
    replayUntil: Date.now() + 600_000,
    leaseMs: 60_000,
    key,
  });

  it('forward, a handler of this process keeps its lease, and commits', async () => {
    const store = sqliteStore(db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(61_000);
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    expect(await store.extend('event', owner.token, 60_000)).toBe(true);
    setClock(3_600_000);
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    expect(await store.complete('event', owner.token)).toBe(true);
    expect(await store.admit(claim('event'))).toEqual({ status: 'duplicate' });
  });

  it('forward, an event that was released is free', async () => {
    const store = sqliteStore(db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(61_000);
    expect(await store.release('event', owner.token)).toBe(true);
    expect(await store.admit(claim('event'))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('back by an hour, the event of a dead process waits for one lease, not for an hour', async () => {
    await sqliteStore(db).admit(claim('event'));
    setClock(-3_600_000);
    const store = sqliteStore(db); // of the next process
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    setClock(-3_600_000 + 60_001);
    expect(await store.admit(claim('event'))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('back by an hour, a live handler keeps its lease', async () => {
    const store = sqliteStore(db);
    const owner = claim('event');
    await store.admit(owner);
    setClock(-3_600_000);
    expect(await store.admit(claim('event'))).toEqual({ status: 'in-progress' });
    expect(await store.extend('event', owner.token, 60_000)).toBe(true);
    expect(await store.complete('event', owner.token)).toBe(true);
  });

  it('back by an hour, the job of a dead process is run when one lease is over', async () => {
    const queue = sqliteQueue(db);
    await queue.enqueue(queuedCall('call-1'));
    db.exec(
      `UPDATE call_webhooks_jobs SET attempt = 1, token = 'of a dead process', due_at = ${String(Date.now() + 60_000)}`,
    );
    setClock(-3_600_000);
    const attempts: number[] = [];
    const worker = createSqliteWorker(queue, {
      logger: collectingLogger(),
      pollEvery: 5,
      leaseFor: 50,
      on: { 'call:completed': (_event, { attempt }) => void attempts.push(attempt) },
    });
    await queue.enqueue(queuedCall('call-2'));
    await waitFor(() => attempts.length === 2);
    expect(attempts.sort()).toEqual([1, 2]);
    await worker.close();
  });
});
