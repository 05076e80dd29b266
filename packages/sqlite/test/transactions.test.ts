import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import Database from 'libsql';
import { Transactions } from '../src/transactions.ts';
import { freshFile } from './support.ts';

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
