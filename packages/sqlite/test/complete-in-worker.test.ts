import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  completeJobContractTests,
  queuedCall,
  waitFor,
} from '@call-webhooks/contract-tests';
import { createSqliteWorker, sqliteQueue } from '../src/index.ts';
import { onHandle, type Transactions } from './effects.ts';
import { eachClient, freshFile, type Client } from './support.ts';

/** A queue and its workers on connections of their own, and a table of effects beside them. */
function openWithEffects(client: Client) {
  const { file, remove } = freshFile();
  const handles: ReturnType<Client['open']>[] = [];
  const connect = () => {
    const handle = client.open(file);
    handles.push(handle);
    return handle;
  };
  const db = connect();
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('CREATE TABLE effects (number INTEGER PRIMARY KEY, effect TEXT)');
  const transactions = onHandle(client, file);
  return {
    db,
    queue: sqliteQueue(db),
    connect: () => sqliteQueue(connect()),
    transact: (work: Parameters<Transactions['transact']>[0]) => transactions.transact(work),
    committed(effect: string) {
      const count = db.prepare('SELECT count(*) AS count FROM effects WHERE effect = ?');
      const [row] = count.all(effect) as { count: number }[];
      return Promise.resolve(row!.count);
    },
    async close() {
      await transactions.close();
      for (const handle of handles) handle.close();
      remove();
    },
  };
}

const fast = { backoff: { initialDelay: 5, maxDelay: 5 }, pollEvery: 10 };

eachClient((client) => {
  completeJobContractTests({
    name: `sqliteQueue, with ${client.name}`,
    open(limits) {
      const opened = openWithEffects(client);
      const { queue, connect } = opened;
      return Promise.resolve({
        ...opened,
        startWorker: (handlers) =>
          Promise.resolve(createSqliteWorker(connect(), { ...handlers, ...limits, ...fast })),
        deadLetters: async () => (await queue.deadLetters()).map(({ delivery }) => delivery),
      });
    },
  });

  it(`fences a run that lost its job, and renews no lease that its own commit ended: ${client.name}`, async () => {
    const { db, queue, connect, transact, committed, close } = openWithEffects(client);
    const ends: string[] = [];
    let aborted: boolean | undefined;
    const worker = createSqliteWorker(connect(), {
      ...fast,
      leaseFor: 60,
      logger: collectingLogger(),
      on: {
        'call:completed': async (_event, { attempt, completeIn, signal }) => {
          if (attempt === 1)
            db.exec("UPDATE call_webhooks_jobs SET due_at = 0, token = 'of another worker'");
          await transact(async ({ tx, write }) => {
            await write('call-1');
            await completeIn(tx);
          }).catch((error: unknown) => {
            ends.push(`${String(attempt)}: ${String(error)}`);
            throw error;
          });
          await new Promise((resolve) => setTimeout(resolve, 100)); // some renewals later
          aborted = signal.aborted;
        },
      },
    });
    await queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await queue.stats()).done === 1);
    await waitFor(() => aborted !== undefined);
    expect(aborted).toBe(false);
    expect(ends).toEqual([expect.stringContaining('the lease was lost')]);
    expect(await committed('call-1')).toBe(1);
    await worker.close();
    expect(await queue.stats()).toMatchObject({ done: 1, waiting: 0, delayed: 0, running: 0 });
    await close();
  });

  it(`forgets the failed attempts of a job that it completes: ${client.name}`, async () => {
    const { db, queue, connect, transact, committed, close } = openWithEffects(client);
    const worker = createSqliteWorker(connect(), {
      ...fast,
      logger: collectingLogger(),
      on: {
        'call:completed': async (_event, { attempt, completeIn }) => {
          if (attempt === 1) throw new Error('the CRM is down');
          await transact(async ({ tx, write }) => {
            await write('call-1');
            await completeIn(tx);
          });
        },
      },
    });
    await queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await queue.stats()).done === 1);
    await worker.close();
    expect(await committed('call-1')).toBe(1);
    const rows = db.prepare('SELECT attempt, failures, delivery FROM call_webhooks_jobs').all();
    expect(rows).toMatchObject([{ attempt: 2, failures: null, delivery: null }]);
    await close();
  });
});
