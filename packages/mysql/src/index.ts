export { mysqlStore, type MysqlStore, type MysqlStoreOptions } from './store.ts';
export type { Migration } from './schema.ts';
export type { MysqlPool } from './pool.ts';
export type { MysqlTransaction } from './transaction.ts';
export {
  mysqlDeadLetters,
  type MysqlDeadLetters,
  type MysqlDeadLettersOptions,
} from './dead-letters.ts';
