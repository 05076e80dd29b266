import { randomInt } from 'node:crypto';
import { hash53 } from '@call-webhooks/core';
import type { RowId, SqliteDatabase } from './database.ts';

/**
 * A table of rows, and the table that finds them by the hash of their name: a log-structured merge
 * tree (decision 17). New names lie on a first, small level. The names of one range of hashes move to
 * the next level together, so that they share its pages. In one large index, each new name would
 * change a page of its own.
 *
 * A name whose row is gone is ignored, and removed when a range passes it. Rows must compare their
 * name, since others may have the same hash.
 */
export interface NamedTable {
  readonly rows: string;
  readonly names: string;
}

/** Only the last one has no limit. */
const LEVELS = 4;
/** How many names the first level holds. */
const FIRST_LEVEL = 1_024;
/** How many times as many names each further level holds: ten million need all four. */
const GROWTH = 24;
/** How many names move together. */
const MOVED = 128;
/** How many new names there may be for each call of `tidy`. Fewer than may move, or levels would grow. */
export const TIDY_EVERY = 100;
/** Hashes have 30 bits: with two for the level, a slot takes 4 bytes on disk. */
const HASHES = 2 ** 30;

/** A hash of a name. Only for looking it up: two names may have the same. */
export const hashOf = (name: string): number => hash53(name) % HASHES;

/** Where a hash lies on a level. Level after level, slots are all the integers of 32 bits. */
const slotOf = (level: number, hash: number): number => level * HASHES + hash - 2 ** 31;

/** Where the names with this hash can be: a slot on each level. */
export const slotsOf = (hash: number): number[] =>
  Array.from({ length: LEVELS }, (_, level) => slotOf(level, hash));

/** What a SELECT joins to find `names.row`. Its parameters are `slotsOf`, or are filled in. */
export function namesAt({ names }: NamedTable, slots?: readonly number[]): string {
  const values = Array.from({ length: LEVELS }, (_, level) => `(${String(slots?.[level] ?? '?')})`);
  // CROSS keeps the order: SQLite looks up one slot after the other.
  return `(VALUES ${values.join()}) AS slots CROSS JOIN ${names} AS names ON names.slot = slots.column1`;
}

export const namesSchema = ({ names }: NamedTable): string => `
CREATE TABLE IF NOT EXISTS ${names} (
  slot INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (slot, row)
) WITHOUT ROWID;`;

/** Adds the names of a table's new rows and keeps them in order, within transactions of the caller. */
export class NameIndex {
  readonly #statements: ReturnType<typeof indexStatements>;
  /** Which hash comes next on each level. */
  readonly #next: number[];

  /** @param start the first hash that is tidied. Each process goes round from another one */
  constructor(db: SqliteDatabase, table: NamedTable, start = randomInt(HASHES)) {
    this.#statements = indexStatements(db, table);
    this.#next = Array.from({ length: LEVELS }, () => start);
  }

  add(hash: number, row: RowId): void {
    this.#statements.add.run(slotOf(0, hash), row);
  }

  /** Moves the next names of each full level down, and removes those whose rows are gone. */
  tidy(): void {
    const { lastName, oldestRow, removeStale, copyDown, remove } = this.#statements;
    const last = lastName.get() as { slot: RowId } | undefined;
    if (!last) return;
    const lastLevel = Math.floor((Number(last.slot) - slotOf(0, 0)) / HASHES);
    const oldest = oldestRow.get() as { row: RowId } | undefined;
    const firstRow = oldest?.row ?? Number.MAX_SAFE_INTEGER;
    for (let level = 0; level <= lastLevel; level++) {
      const { from, to, isFull } = this.#range(level);
      if (isFull && level < LEVELS - 1) {
        // Rows come and go in order: stale names are on the last level. Beside the names
        // that move there, they are on pages that change anyway.
        if (level + 1 >= lastLevel) removeStale.run(from + HASHES, to + HASHES, firstRow);
        copyDown.run(from, to);
        remove.run(from, to);
      } else removeStale.run(from, to, firstRow);
    }
  }

  /** The slots of the next names of a level. */
  #range(level: number) {
    const [from, end] = [slotOf(level, this.#next[level] ?? 0), slotOf(level + 1, 0)];
    const found = this.#statements.nameAfter.get(from, end) as { slot: RowId } | undefined;
    // More names than move together may have one hash.
    const to = Math.max(Number(found?.slot ?? end), from + 1);
    this.#next[level] = found ? to - slotOf(level, 0) : 0;
    // Hashes are spread evenly, so a level is as full as this range of it.
    const names = (MOVED * HASHES) / (to - from);
    return { from, to, isFull: found !== undefined && names > FIRST_LEVEL * GROWTH ** level };
  }
}

function indexStatements(db: SqliteDatabase, { rows, names }: NamedTable) {
  const range = 'slot >= ? AND slot < ?';
  return {
    add: db.prepare(`INSERT OR IGNORE INTO ${names} VALUES (?, ?)`),
    lastName: db.prepare(`SELECT slot FROM ${names} ORDER BY slot DESC LIMIT 1`),
    oldestRow: db.prepare(`SELECT rowid AS row FROM ${rows} ORDER BY keep_until LIMIT 1`),
    nameAfter: db.prepare(
      `SELECT slot FROM ${names} WHERE ${range} ORDER BY slot LIMIT 1 OFFSET ${String(MOVED)}`,
    ),
    /** Older rows may be there still, if the clock was set. The check is for names before the oldest row alone, since it takes long. */
    removeStale: db.prepare(
      `DELETE FROM ${names} WHERE ${range} AND row < ? AND NOT EXISTS (SELECT 1 FROM ${rows} WHERE rowid = ${names}.row)`,
    ),
    copyDown: db.prepare(
      `INSERT OR IGNORE INTO ${names} SELECT slot + ${String(HASHES)}, row FROM ${names} WHERE ${range} ORDER BY slot`,
    ),
    remove: db.prepare(`DELETE FROM ${names} WHERE ${range}`),
  };
}
