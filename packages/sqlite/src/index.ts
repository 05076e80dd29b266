export { sqliteStore, type SqliteStoreOptions } from './store.ts';
export type { SqliteDatabase, SqliteStatement } from './database.ts';
