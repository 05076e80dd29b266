import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
//: if node
import { config } from './config.ts';
//: end

//: if node
export const db = new Database(config.sqliteFile);
//: end
//: if next
const db = new Database(process.env.SQLITE_FILE ?? 'calls.db');
//: end

/** Remembers which events are done, in a file of this machine. It creates its tables itself. */
export const store = sqliteStore(db);
