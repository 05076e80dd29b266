import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { hashOf, NameIndex, namesAt, namesSchema, slotsOf, TIDY_EVERY } from '../src/name-index.ts';

const TABLE = { rows: 'events', names: 'event_names' };
const LEVEL_0 = 1_024;
const LEVEL_1 = 20 * 1_024;
const MOVED = 256;

let db: InstanceType<typeof Database>;
let index: NameIndex;
let last: number;
beforeEach(() => {
  db = new Database(':memory:');
  db.exec(`CREATE TABLE events (name TEXT, keep_until INTEGER); ${namesSchema(TABLE)}
    CREATE INDEX events_keep_until ON events (keep_until)`);
  index = new NameIndex(db, TABLE, 123_456_789);
  last = 0;
});
afterEach(() => {
  db.close();
});

const count = (from: string) =>
  (db.prepare(`SELECT count(*) AS count FROM ${from}`).all()[0] as { count: number }).count;
const level = (number: number) => {
  const first = slotsOf(0)[number] as number;
  return count(
    `event_names WHERE slot BETWEEN ${String(first)} AND ${String(first + 2 ** 30 - 1)}`,
  );
};
const names = () => count('event_names');

function addRow(row: number, name: string, hash = hashOf(name)): void {
  db.prepare('INSERT INTO events (rowid, name, keep_until) VALUES (?, ?, ?)').run(row, name, row);
  index.add(hash, row);
}

/** Adds rows, removes all but the newest, and tidies as often as a store does. */
function add(number: number, keep = number): void {
  const sweep = db.prepare('DELETE FROM events WHERE keep_until <= ?');
  db.exec('BEGIN');
  for (const end = last + number; last < end;) {
    addRow(++last, `name ${String(last)}`);
    if (last % TIDY_EVERY !== 0) continue;
    sweep.run(last - keep);
    index.tidy();
  }
  db.exec('COMMIT');
}

/** The rows that are not found by their name, or more than once. */
function lost(): unknown[] {
  const find = db.prepare(
    `SELECT names.row FROM ${namesAt(TABLE)} JOIN events ON events.rowid = names.row WHERE name = ?`,
  );
  const rows = db.prepare('SELECT rowid AS row, name FROM events').all() as {
    row: number;
    name: string;
  }[];
  return rows.filter(({ row, name }) => {
    const found = find.all(...slotsOf(hashOf(name)), name) as { row: number }[];
    return found.length !== 1 || found[0]?.row !== row;
  });
}

describe('names', () => {
  it('are found on each level that they come to', () => {
    add(26_000, Infinity);
    expect(lost()).toEqual([]);
    expect(names()).toBe(26_000);
    expect(level(0)).toBeLessThan(1.5 * LEVEL_0);
    expect(level(1)).toBeLessThan(1.1 * LEVEL_1);
    expect(level(2)).toBeGreaterThan(26_000 - 1.5 * LEVEL_0 - 1.1 * LEVEL_1);
  });

  it.each([123_456_789, 2 ** 30 - 1_000])('stay on level 0 while there are few', (start) => {
    const nullForNone = (sql: string) => {
      const statement = db.prepare(sql);
      const get = (...values: unknown[]) => statement.get(...values) ?? null;
      return { all: () => [], get, run: (...values: unknown[]) => statement.run(...values) };
    };
    const handle = { exec: (sql: string) => db.exec(sql), prepare: nullForNone };
    index = new NameIndex(handle, TABLE, start);
    add(600, Infinity);
    for (let times = 0; times < 100; times++) index.tidy();
    expect(level(0)).toBe(600);
  });

  it('move from where a process starts', () => {
    for (const row of Array(3_000).keys()) addRow(row + 1, `name ${String(row)}`);
    index.tidy();
    expect(level(1)).toBe(MOVED);
    const [first] = db
      .prepare('SELECT slot FROM event_names WHERE slot >= ?')
      .all(slotsOf(0)[1]) as { slot: number }[];
    const hash = Number(first?.slot) + 2 ** 30;
    expect(hash).toBeGreaterThanOrEqual(123_456_789);
    expect(hash).toBeLessThan(123_456_789 + 2 ** 23); // one of 3,000 is not far
  });

  it('go after their rows', () => {
    add(8_000, 2_000);
    expect(count('events')).toBe(2_000);
    expect(lost()).toEqual([]);
    expect(names()).toBeLessThan(2_000 + 1.5 * LEVEL_0);
  });

  it.each([500, 3_000, 24_000])('of %i rows go when no others come', (number) => {
    add(number, Infinity);
    db.exec('DELETE FROM events');
    const before = names();
    index.tidy();
    expect(names()).toBeGreaterThanOrEqual(before - 3 * MOVED); // one portion of each level
    for (let times = 0; times <= number / 100 + 3; times++) index.tidy();
    expect(names()).toBe(0);
    index.tidy();
  });

  it('of a row that outlives younger ones stay', () => {
    add(TIDY_EVERY, Infinity);
    db.exec('UPDATE events SET keep_until = 1e9 WHERE rowid = 7');
    add(6_000, 1_000);
    expect(count('events')).toBe(1_001);
    expect(lost()).toEqual([]);
  });

  it('are found whichever process tidies, and when what it did is undone', () => {
    const other = new NameIndex(db, TABLE, 987_654_321);
    for (let round = 0; round < 20; round++) {
      add(TIDY_EVERY, 2_000);
      other.tidy();
      db.exec('BEGIN');
      other.tidy();
      index.tidy();
      db.exec('ROLLBACK');
    }
    expect(lost()).toEqual([]);
    expect(names()).toBeLessThan(2_000 + 1.5 * LEVEL_0);
  });

  it('of a removed row do no harm to the next that has its place', () => {
    add(2_000, Infinity);
    for (const name of ['other', 'name 2000', 'name 1']) {
      db.exec('DELETE FROM events WHERE rowid IN (1, 2000)');
      addRow(2_000, name);
      expect(lost()).toEqual([]);
    }
    last = 2_000;
    add(3_000, Infinity);
    expect(lost()).toEqual([]);
  });

  it('with one hash may be more than move together', () => {
    for (let row = 1; row <= 3 * MOVED; row++) addRow(row, 'one', 123_456_789);
    last = 3 * MOVED;
    add(5_000, Infinity);
    expect(level(0)).toBeLessThan(1.5 * LEVEL_0);
    expect(level(3)).toBe(3 * MOVED); // the last level, which they never leave
    expect(
      count(`events JOIN (SELECT DISTINCT row FROM ${namesAt(TABLE, slotsOf(123_456_789))})
      ON row = events.rowid WHERE name = 'one'`),
    ).toBe(3 * MOVED);
  });
});

it('looks up a hash of 30 bits in one slot of 32 for each level', () => {
  expect(slotsOf(0)).toEqual([-(2 ** 31), -(2 ** 30), 0, 2 ** 30]);
  expect(slotsOf(2 ** 30 - 1)).toEqual([-(2 ** 30) - 1, -1, 2 ** 30 - 1, 2 ** 31 - 1]);
  expect(hashOf('a name')).toBeLessThan(2 ** 30);
});
