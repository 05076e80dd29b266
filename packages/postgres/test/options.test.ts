import {
  type CreateWith,
  DAY,
  HOUR,
  MINUTE,
  numberOptionsTests,
  TEN_YEARS,
} from '@call-webhooks/contract-tests';
import {
  createPgBossWorker,
  pgBossQueue,
  postgresDeadLetters,
  postgresStore,
} from '../src/index.ts';
import { recordingBoss } from './recording-boss.ts';
import { recordingClient } from './recording-client.ts';

const store: CreateWith = (options) => postgresStore(recordingClient().client, options);
const letters: CreateWith = (options) => postgresDeadLetters(recordingClient().client, options);
const queue: CreateWith = (options) => pgBossQueue(recordingBoss().boss, options);
const worker: CreateWith = (options) => createPgBossWorker(recordingBoss().boss, options).close();

numberOptionsTests([
  ['postgresStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, store, DAY],
  ['postgresDeadLetters', 'keepFor', HOUR, TEN_YEARS, letters, undefined],
  ['pgBossQueue', 'keepFor', HOUR, TEN_YEARS, queue, undefined],
  ['pgBossQueue', 'maxRuns', 1, 1_000_000, queue],
  ['pgBossQueue', 'expireIn', 1_000, DAY - 1_000, queue],
  ['pgBossQueue', 'retainFor', MINUTE, TEN_YEARS, queue],
  ['createPgBossWorker', 'concurrency', 1, 10_000, worker],
  ['createPgBossWorker', 'pollEvery', 1, 2 ** 31 - 1, worker],
]);
