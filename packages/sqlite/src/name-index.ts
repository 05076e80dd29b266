import { randomInt } from 'node:crypto';
import type { RowId, SqliteDatabase } from './database.ts';

/*
 * An index from names to rows: a log-structured merge tree (decision 17).
 *
 * In one large index, each new name would change a different page, because the hashes of names are
 * random. Here, new names go to level 0, which has about 1,000 names on a few pages. Level 1 has about
 * 20,000, level 2 about 400,000, and level 3 the rest. A part of each full level moves to the next one
 * from time to time: 256 names that are neighbors by hash, and land on few pages there.
 *
 * A lookup searches all levels. When a row is removed, its name stays, and is ignored. It is removed
 * when names move to its neighborhood.
 */

/** A table of rows, and the table of their names. */
export interface NamedTable {
  readonly rows: string;
  readonly names: string;
}

/** The last level has no limit. */
const LEVELS = 4;
/** How many names level 0 may have before it counts as full. */
const FIRST_LEVEL = 1_024;
/** How many times as many names each further level may have. */
const GROWTH = 20;
/** How many names of a level move at a time. */
const MOVED = 256;
/** Call `tidy` after this many new names. It must be fewer than `MOVED`, or level 0 would grow without end. */
export const TIDY_EVERY = 200;
/** Hashes have 30 bits. With two for the level, a slot takes 4 bytes on disk. */
const HASHES = 2 ** 30;

/** A hash of a name. Two names may have the same one, so queries must also compare the name. */
export const hashOf = (name: string): number => hash53(name) % HASHES;

/**
 * A level and a hash in one integer. The levels follow one another, and fill the range of a signed
 * 32-bit integer. The same hash on the next level is `HASHES` further.
 */
const slotOf = (level: number, hash: number): number => level * HASHES + hash - 2 ** 31;

/** Where the names with this hash can be: a slot on each level. */
export const slotsOf = (hash: number): number[] =>
  Array.from({ length: LEVELS }, (_, level) => slotOf(level, hash));

/**
 * A FROM clause that finds `names.row` for a hash. Pass `slotsOf(hash)` as its parameters, or as `slots`
 * to have them written into the text.
 */
export function namesAt({ names }: NamedTable, slots?: readonly number[]): string {
  const values = Array.from({ length: LEVELS }, (_, level) => `(${String(slots?.[level] ?? '?')})`);
  // CROSS keeps the order: SQLite looks up one slot after the other.
  return `(VALUES ${values.join()}) AS slots CROSS JOIN ${names} AS names ON names.slot = slots.column1`;
}

export const namesSchema = ({ names }: NamedTable): string => `
CREATE TABLE IF NOT EXISTS ${names} (
  slot INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (slot, row)
) WITHOUT ROWID;`;

/** Adds names and moves them down, within transactions of the caller. */
export class NameIndex {
  readonly #statements: ReturnType<typeof indexStatements>;
  /** The hash at which the next range starts, on each level. Each process goes round on its own. */
  readonly #next: number[];

  /** @param start where tidying begins. It is random, so that processes work on different ranges */
  constructor(db: SqliteDatabase, table: NamedTable, start = randomInt(HASHES)) {
    this.#statements = indexStatements(db, table);
    this.#next = Array.from({ length: LEVELS }, () => start);
  }

  add(hash: number, row: RowId): void {
    this.#statements.add.run(slotOf(0, hash), row);
  }

  /** Takes the next range of each level: moves it down if the level is full, and removes stale names. */
  tidy(): void {
    const { lastName, oldestRow, removeStale, copyDown, remove } = this.#statements;
    const last = lastName.get() as { slot: RowId } | null | undefined;
    if (!last) return;
    const lastLevel = Math.floor((Number(last.slot) - slotOf(0, 0)) / HASHES);
    const oldest = oldestRow.get() as { row: RowId } | null | undefined;
    const firstRow = oldest?.row ?? Number.MAX_SAFE_INTEGER;
    for (let level = 0; level <= lastLevel; level++) {
      const { from, to, isFull } = this.#nextRange(level);
      if (!isFull || level === LEVELS - 1) {
        removeStale.run(from, to, firstRow);
        continue;
      }
      // Rows come and go in order, so nearly all stale names are on the last level. Those in the
      // range that names move to are on pages that change anyway.
      if (level + 1 >= lastLevel) removeStale.run(from + HASHES, to + HASHES, firstRow);
      copyDown.run(from, to);
      remove.run(from, to);
    }
  }

  /** The slots of the next names of a level, without `to`. */
  #nextRange(level: number) {
    const [from, end] = [slotOf(level, this.#next[level] ?? 0), slotOf(level + 1, 0)];
    const after = this.#statements.nameAfter.get(from, end) as { slot: RowId } | null | undefined;
    // More than MOVED names may share one hash.
    const to = Math.max(Number(after?.slot ?? end), from + 1);
    this.#next[level] = (to - slotOf(level, 0)) % HASHES;
    // Hashes are spread evenly: a level has as many names as its ranges are narrow. The last
    // range ends where the level does, and tells nothing.
    const estimated = (MOVED * HASHES) / (to - from);
    return { from, to, isFull: Boolean(after) && estimated > FIRST_LEVEL * GROWTH ** level };
  }
}

function indexStatements(db: SqliteDatabase, { rows, names }: NamedTable) {
  const range = 'slot >= ? AND slot < ?';
  return {
    add: db.prepare(`INSERT INTO ${names} VALUES (?, ?) ON CONFLICT DO NOTHING`),
    lastName: db.prepare(`SELECT slot FROM ${names} ORDER BY slot DESC LIMIT 1`),
    oldestRow: db.prepare(`SELECT rowid AS row FROM ${rows} ORDER BY keep_until LIMIT 1`),
    nameAfter: db.prepare(
      `SELECT slot FROM ${names} WHERE ${range} ORDER BY slot LIMIT 1 OFFSET ${String(MOVED)}`,
    ),
    /**
     * Rows before the one that expires first may still exist, since a repeated claim expires later.
     * Each is looked up. Names of later rows are skipped, to save that lookup.
     */
    removeStale: db.prepare(
      `DELETE FROM ${names} WHERE ${range} AND row < ? AND NOT EXISTS (SELECT 1 FROM ${rows} WHERE rowid = ${names}.row)`,
    ),
    copyDown: db.prepare(
      `INSERT INTO ${names} SELECT slot + ${String(HASHES)}, row FROM ${names} WHERE ${range} ORDER BY slot ON CONFLICT DO NOTHING`,
    ),
    remove: db.prepare(`DELETE FROM ${names} WHERE ${range}`),
  };
}

const { imul } = Math;

/**
 * 53 bits of a text (cyrb53). Only for uses where two texts with the same hash do no harm: a number
 * is kept in less memory than a string.
 */
function hash53(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = imul(high ^ code, 0x9e3779b1);
    low = imul(low ^ code, 0x5f356495);
  }
  const mixedHigh = mix(high, low);
  return (mixedHigh >>> 11) * 2 ** 32 + (mix(low, mixedHigh) >>> 0);
}

const mix = (half: number, other: number): number =>
  imul(half ^ (half >>> 16), 0x85ebca6b) ^ imul(other ^ (other >>> 13), 0xc2b2ae35);
