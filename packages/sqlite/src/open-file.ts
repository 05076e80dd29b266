import { statSync } from 'node:fs';
import { isUnopenable, type Statements } from './database.ts';

/** The file itself, and the log and the index of its log. */
const SUFFIXES = ['', '-wal', '-shm'];

/**
 * The file that a handle has open. SQLite goes on writing into a file that was removed, moved or replaced,
 * and says nothing: what it writes there is lost when the process ends. A database in memory has no file.
 */
export class OpenFile {
  readonly #sql: Statements;
  #path: string | undefined;
  /** By suffix. The log and its index appear with the first transaction. */
  readonly #known = new Map<string, string>();

  constructor(sql: Statements) {
    this.#sql = sql;
    try {
      this.#note();
    } catch {
      // The handle is closed, or locked by another process: `check` tries again.
    }
  }

  /** @throws Error if the file is no longer where it was opened */
  check(): void {
    if (this.#path === undefined) this.#note();
    const path = this.#path as string;
    if (path === '') return;
    for (const suffix of SUFFIXES) {
      const known = this.#known.get(suffix);
      const found = idOf(path + suffix);
      if (known === undefined && found !== undefined) this.#known.set(suffix, found);
      if (known !== undefined && known !== found) throw gone(path + suffix, found === undefined);
    }
  }

  /**
   * After the first commit: the file was made by then.
   * @throws Error if it was removed before it was used first
   */
  checkIsThere(): void {
    this.check();
    // A file system of the user, such as SQLite's memdb, has no file. It has no log either.
    const { journal_mode: mode } = this.#sql.first('PRAGMA journal_mode') ?? {};
    if (this.#path !== '' && mode === 'wal' && !this.#known.has(''))
      throw gone(this.#path as string, true);
  }

  /**
   * Before the first commit, SQLite itself notices that the file is missing, and blames the disk or the rights.
   * So its error is no cause of this one.
   * @throws Error if the file was removed before it was used first
   */
  checkAfter(error: unknown): void {
    const path = this.#path ?? '';
    if (path !== '' && !isUnopenable(error) && idOf(path) === undefined) throw gone(path, true);
  }

  #note(): void {
    const databases = this.#sql.rows('PRAGMA database_list');
    const main = databases.find(({ name }) => name === 'main');
    const path = typeof main?.['file'] === 'string' ? main['file'] : '';
    const id = path === '' ? undefined : idOf(path);
    if (id !== undefined) this.#known.set('', id);
    this.#path = path;
  }
}

/** What tells a file from all others; `undefined` if there is none. */
function idOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${String(found.dev)} ${String(found.ino)}`;
}

const gone = (path: string, isMissing: boolean) =>
  new Error(
    `The SQLite file ${path} was ${isMissing ? 'removed or moved' : 'replaced by another file'} while this process had it open, so anything written now would be lost. Deliveries are refused. Put the file back, or restart the process, which then opens the current file.`,
  );
