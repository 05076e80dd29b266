import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import Database from 'libsql';
import type { SqliteDatabase } from '../src/index.ts';

type Handle = SqliteDatabase & { close(): unknown };

/** A client that these tests run with. */
export interface Client {
  name: string;
  open(file: string): Handle;
}

type Constructor = new (file: string) => Handle;

const CLIENTS: { name: string; load: () => Constructor; missing: string }[] = [
  { name: 'libsql', load: () => Database, missing: '' },
  {
    name: 'node:sqlite',
    load: () => (require('node:sqlite') as { DatabaseSync: Constructor }).DatabaseSync,
    missing: 'Node has it from 22.13 on',
  },
  {
    name: 'better-sqlite3',
    load: () => require('better-sqlite3') as Constructor,
    missing: 'npm install --no-save better-sqlite3@12; it is built or downloaded, so not by npm ci',
  },
];
const require = createRequire(import.meta.url);

/** The same tests on each client. Where one is missing they are skipped, and one loud line says so. */
export function eachClient(tests: (client: Client) => void): void {
  for (const { name, load, missing } of CLIENTS) {
    let Loaded: Constructor;
    try {
      Loaded = load();
      new Loaded(':memory:').close(); // a binary for another Node fails here
    } catch {
      process.stderr.write(`\n!!! SKIPPED: the tests on ${name}: ${missing}.\n\n`);
      describe.skip(name, () => {
        it(`needs ${name}`, () => undefined);
      });
      continue;
    }
    tests({ name, open: (file) => new Loaded(file) });
  }
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
