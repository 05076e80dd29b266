export { postgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts';
export { migrationSql } from './schema.ts';
export type { PostgresClient } from './client.ts';
