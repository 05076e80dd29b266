import {
  type CreateWith,
  DAY,
  HOUR,
  MINUTE,
  numberOptionsTests,
  TEN_YEARS,
} from '@call-webhooks/contract-tests';
import { mysqlDeadLetters, mysqlStore } from '../src/index.ts';

const some = () => undefined;
const pool = { getConnection: some, execute: some, releaseConnection: some };

const store: CreateWith = (options) => mysqlStore(pool, options);
const letters: CreateWith = (options) => mysqlDeadLetters(pool, options);

numberOptionsTests([
  ['mysqlStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, store, DAY],
  ['mysqlDeadLetters', 'keepFor', HOUR, TEN_YEARS, letters, undefined],
]);
