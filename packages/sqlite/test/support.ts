import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { SqliteDatabase } from '../src/index.ts';

type Handle = SqliteDatabase & { close(): unknown };

/** A client that these tests run with, where it is installed. */
export interface Client {
  name: string;
  open(file: string): Handle;
}

/** libsql always; node:sqlite where this Node has it; better-sqlite3 where somebody installed it. */
export function clients(): Client[] {
  const found: Client[] = [{ name: 'libsql', open: (file) => new Database(file) }];
  const require = createRequire(import.meta.url);
  try {
    const { DatabaseSync } = require('node:sqlite') as {
      DatabaseSync: new (file: string) => Handle;
    };
    found.push({ name: 'node:sqlite', open: (file) => new DatabaseSync(file) });
  } catch {
    // before Node 22.13
  }
  try {
    const Better = require('better-sqlite3') as new (file: string) => Handle;
    found.push({ name: 'better-sqlite3', open: (file) => new Better(file) });
  } catch {
    // it has to be built, which would slow every `npm ci`
  }
  return found;
}

/** A folder of its own, and the file in it. */
export function freshFile(): { file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-sqlite-'));
  return {
    file: join(folder, 'calls.db'),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
