import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import {
  createReceiver,
  generateSecret,
  type HandlerContext,
  sign,
  type WebhookError,
} from '@call-webhooks/core';
import Database from 'libsql';
import { type SqliteDatabase, sqliteStore, type SqliteTransaction } from '../src/index.ts';
import { Transactions } from '../src/transactions.ts';
import { completeInTests, openWithEffects } from './complete-in.ts';
import { onHandle, onLibsqlClient } from './effects.ts';
import { type Client, eachClient, freshFile } from './support.ts';

describe('completeIn', () => {
  eachClient((client) => {
    completeInTests(client.name, client, (file) => onHandle(client, file));
    if (client.name === 'libsql') {
      completeInTests('@libsql/client', client, onLibsqlClient);
      return;
    }

    it(`refuses ${client.name} beside a store on libsql: their locks would not hold`, async () => {
      const libsql: Client = { name: 'libsql', open: (file) => new Database(file) };
      const opened = openWithEffects(libsql, (file) => onHandle(client, file));
      const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      await opened.store.admit({ ...claim, key: 'event', token: 'token' });
      const transaction = opened.transact(async ({ tx }) => {
        await opened.store.completeIn(tx as SqliteTransaction, 'event', 'token');
      });
      await expect(transaction).rejects.toThrow('a copy of SQLite each');
      await opened.close();
    });
  });

  it('the binding of Cloudflare D1 is refused with the reason', async () => {
    // What a Worker gets. It is refused before any of this is called.
    const unused = () => Promise.reject(new Error('not to be called'));
    const binding = { prepare: unused, batch: unused, exec: unused, dump: unused };
    const { file, remove } = freshFile();
    const db = new Database(file);
    const store = sqliteStore(db);
    const completing = async () =>
      store.completeIn(binding as unknown as SqliteTransaction, 'event', 'token');
    await expect(completing()).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining('Cloudflare D1 has no transactions that wait for your code'),
    });
    db.close();
    remove();
  });
});

describe('completeIn in a synchronous transaction', () => {
  /** better-sqlite3 and libsql have `db.transaction(function)`, whose function is synchronous. */
  type Handle = SqliteDatabase & {
    close(): unknown;
    transaction?<Result>(work: () => Result): () => Result;
  };

  eachClient((client) => {
    describe(`completeIn in a synchronous transaction of ${client.name}`, () => {
      let db: Handle;
      let remove: () => void;
      let save: (context: HandlerContext) => unknown;
      const deliver = async (callId: string) => {
        const body = Buffer.from(callBody(callId));
        const { outcome } = await receiver.receive({ headers: await sign({ secret, body }), body });
        return outcome.outcome;
      };
      const secret = generateSecret();
      let receiver: ReturnType<typeof createReceiver>;
      const written = () =>
        (db.prepare('SELECT effect FROM effects').all() as { effect: string }[]).map(
          ({ effect }) => effect,
        );

      beforeEach(() => {
        const place = freshFile();
        remove = place.remove;
        db = client.open(place.file);
        db.exec('CREATE TABLE effects (effect TEXT)');
        receiver = createReceiver({
          secret,
          store: sqliteStore(db), // on the same handle: nothing comes between two turns
          leaseFor: 30_000,
          logger: collectingLogger(),
          on: { 'call:completed': (_event, context) => save(context) },
        });
      });
      afterEach(() => {
        db.close();
        remove();
      });

      /** Runs a function in a transaction, on the handle of the store. */
      function transact(work: () => void): void {
        if (db.transaction) {
          db.transaction(work)();
          return;
        }
        db.exec('BEGIN IMMEDIATE');
        try {
          work();
          db.exec('COMMIT');
        } catch (error) {
          db.exec('ROLLBACK');
          throw error;
        }
      }
      const insert = (effect: string) => db.prepare('INSERT INTO effects VALUES (?)').run(effect);

      it('commits both, or neither', async () => {
        save = ({ completeIn, attempt }) =>
          transact(() => {
            insert(`attempt ${String(attempt)}`);
            void completeIn(db);
            if (attempt === 1) throw new Error('a constraint was violated');
          });
        expect(await deliver('call-1')).toBe('handler-failed');
        expect(await deliver('call-1')).toBe('handled');
        expect(await deliver('call-1')).toBe('duplicate');
        expect(written()).toEqual(['attempt 2']);
      });

      it('throws at once when the lease was lost, so that the transaction rolls back', async () => {
        let error: WebhookError | undefined;
        save = async ({ completeIn }) => {
          db.exec("UPDATE call_webhooks_events SET token = 'of another process'");
          await Promise.resolve();
          try {
            transact(() => {
              insert('lost');
              void completeIn(db);
            });
          } catch (thrown) {
            error = thrown as WebhookError;
            throw thrown;
          }
        };
        expect(await deliver('call-1')).toBe('in-progress');
        expect(error?.code).toBe('in-progress');
        expect(written()).toEqual([]);
      });

      it('throws at once outside of a transaction', async () => {
        save = ({ completeIn }) => {
          expect(() => completeIn(db)).toThrow('this handle is in no transaction');
        };
        expect(await deliver('call-1')).toBe('handler-failed'); // nothing was done
        expect(written()).toEqual([]);
      });
    });
  });
});

const BUSY_FOR = 800;

describe('transactions', () => {
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  let transactions: Transactions;
  /** How often the next transactions find the file locked. */
  let busy: number;
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
    busy = 0;
    const exec = (sql: string) => {
      if (sql === 'BEGIN IMMEDIATE' && busy > 0) {
        busy -= 1;
        throw new Error('database is locked');
      }
      return db.exec(sql);
    };
    const handle = { exec, prepare: (sql: string) => db.prepare(sql) };
    transactions = new Transactions(handle, 'CREATE TABLE IF NOT EXISTS t (name TEXT)');
  });
  afterEach(() => {
    jest.restoreAllMocks();
    db.close();
    place.remove();
  });

  const insert = (name: string) => () => db.prepare('INSERT INTO t VALUES (?)').run(name);
  const names = () =>
    (db.prepare('SELECT name FROM t').all() as { name: string }[]).map(({ name }) => name);
  const isInTransaction = () => {
    try {
      db.exec('BEGIN');
    } catch {
      return true;
    }
    db.exec('ROLLBACK');
    return false;
  };

  it.each([
    { set: -2_000, then: -16_000, why: "SQLite's default" },
    { set: 500, then: -16_000, why: 'too few pages' },
    { set: -16_001, then: -16_001, why: 'more' },
    { set: 4_001, then: 4_001, why: 'more pages' },
  ])('have a page cache of 16 MB, or of what the user set: $why', async ({ set, then }) => {
    db.exec(`PRAGMA cache_size = ${String(set)}`);
    await transactions.run(insert('first'));
    expect(db.prepare('PRAGMA cache_size').all()).toEqual([{ cache_size: then }]);
  });

  it('sync each commit, and wait for locks without blocking the process', async () => {
    db.exec('PRAGMA synchronous = OFF');
    db.exec('PRAGMA busy_timeout = 5000');
    await transactions.run(insert('first'));
    const setting = (name: string) =>
      Object.values(db.prepare(`PRAGMA ${name}`).all()[0] as Record<string, unknown>);
    expect(setting('journal_mode')).toEqual(['wal']);
    expect(setting('synchronous')).toEqual([2]);
    expect(setting('busy_timeout')).toEqual([5]);
    expect(setting('wal_autocheckpoint')).toEqual([4_000]);
  });

  it('wait while the file is locked, in the order in which they were called', async () => {
    busy = 2;
    const first = transactions.run(insert('first'));
    await new Promise(setImmediate); // the first one has found the lock by now
    await Promise.all([first, transactions.run(insert('second'))]);
    expect(names()).toEqual(['first', 'second']);
  });

  it('fail when the file stays locked, and then nothing was changed', async () => {
    await transactions.run(() => undefined);
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
    busy = 1;
    const late = transactions.run(insert('late'));
    clock.mockReturnValue(now + 1);
    const next = transactions.run(insert('next'));
    clock.mockReturnValue(now + BUSY_FOR);
    await expect(late).rejects.toThrow('database is locked');
    await next;
    expect(names()).toEqual(['next']);
  });

  it('fail alone, though others of the same turn wait for the lock again', async () => {
    await transactions.run(() => undefined);
    let runs = 0;
    const failing = transactions.run(() => {
      runs += 1;
      busy = runs === 2 ? 1 : 0; // for the one that is tried after this one
      throw new Error('no');
    });
    const other = transactions.run(insert('other'));
    await expect(failing).rejects.toThrow('no');
    await other;
    expect(names()).toEqual(['other']);
    expect(runs).toBe(2); // with the other one, and alone
  });

  it('run work that fails once, if it is alone', async () => {
    const work = jest.fn(() => {
      throw new Error('no');
    });
    await expect(transactions.run(work)).rejects.toThrow('no');
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('leave no transaction behind when the tables can not be created', async () => {
    const other = new Transactions(db, 'CREATE TABLE no SQL');
    await expect(other.run(() => undefined)).rejects.toThrow('syntax error');
    expect(isInTransaction()).toBe(false);
  });
});
