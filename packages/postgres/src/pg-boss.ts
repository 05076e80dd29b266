import { WebhookError } from '@call-webhooks/core';
import type { JobFailure } from '@call-webhooks/core/stores';

/** The options of a job that are set. */
export interface PgBossSendOptions {
  id: string;
  retryLimit: number;
  retryDelay: number;
  expireInSeconds: number;
  retentionSeconds: number;
  deadLetter?: string;
  retryBackoff?: boolean;
}

/** A job as pg-boss hands it out with `includeMetadata`. */
export interface PgBossJob {
  id: string;
  data: unknown;
  retryCount: number;
  retryLimit: number;
  /** Seconds. */
  retryDelay: number;
  retryBackoff: boolean;
  /** Postgres' clients give it as a text. */
  expireInSeconds: number | string;
  /** The queue for dead jobs; null if none was named. */
  deadLetter: string | null;
  createdOn: Date | string;
  /** When pg-boss deletes it. */
  keepUntil: Date | string;
  /** What the last run was settled with; pg-boss's own text if that run expired. */
  output: {
    released?: boolean;
    abandonReason?: string;
    failures?: readonly JobFailure[];
  } | null;
}

/** The methods that are used of pg-boss 10 and 12. */
export interface PgBossClient {
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object, options: object): Promise<string | null>;
  // `db` is in the types of both versions, and `includeArchive` in those of 10 only.
  getJobById(
    name: string,
    id: string,
    options: { includeArchive: boolean; db?: never },
  ): Promise<unknown>;
  getQueue(name: string): Promise<unknown>;
  fetch(
    name: string,
    options: { batchSize: number; includeMetadata: true; priority?: boolean },
  ): Promise<unknown[]>;
  complete(name: string, id: string, output?: object): Promise<unknown>;
  fail(name: string, id: string, data: object): Promise<unknown>;
  getDb(): { executeSql(text: string, values: unknown[]): Promise<unknown> };
}

const METHODS = [
  ...['createQueue', 'send', 'getJobById', 'getQueue', 'fetch', 'complete', 'fail', 'getDb'],
];

/** @throws WebhookError `invalid-options` for what is not pg-boss 10 or 12 */
export function checkBoss(creator: string, boss: PgBossClient): void {
  const missing = METHODS.find((method) => !has(boss, method));
  if (missing !== undefined)
    throw new WebhookError(
      'invalid-options',
      `Invalid pg-boss of ${creator}: it has no ${missing}(). Pass an instance of pg-boss 10 or 12.`,
    );
  // Its tables are those of neither.
  if (has(boss, 'supervise') && !has(boss, 'findJobs'))
    throw new WebhookError(
      'invalid-options',
      `Invalid pg-boss of ${creator}: this is pg-boss 11 or an early 12. Install pg-boss 12 (npm install pg-boss@12, from 12.38, on Node 22.12 or newer) or pg-boss 10 (npm install pg-boss@10).`,
    );
}

/** Whether this is pg-boss 10, whose tables and options differ a little from those of 12. */
export const isPgBoss10 = (boss: PgBossClient): boolean => !has(boss, 'findJobs');

const has = (boss: unknown, method: string): boolean =>
  typeof Reflect.get(Object(boss) as object, method) === 'function';
