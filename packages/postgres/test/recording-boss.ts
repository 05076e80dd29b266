import type { QueuedDelivery } from '@call-webhooks/core';
import { answer } from './recording-client.ts';
import type { PgBossClient, PgBossJob } from '../src/pg-boss.ts';

type Method = Exclude<keyof PgBossClient, 'getDb'> | 'executeSql' | 'findJobs';
type Replies = Partial<Record<Method, (...args: never[]) => unknown>>;

/**
 * A pg-boss 10 that records what it is asked, in order. It has every queue and takes every job. With
 * a reply for `findJobs` it is a pg-boss 12.
 * @param replies by method; what one throws, the method rejects with
 */
export function recordingBoss(replies: Replies = {}) {
  const calls: unknown[][] = [];
  const all: Replies = {
    ...{ createQueue: () => undefined, getQueue: () => ({}), getJobById: () => null },
    ...{ send: () => 'sent', fetch: () => [], complete: () => undefined, fail: () => undefined },
    deleteJob: () => undefined,
    executeSql: () => ({ rows: [] }),
    ...replies,
  };
  const methods = Object.entries(all).map(([name, reply]) => [
    name,
    async (...args: never[]) => {
      calls.push([name, ...args]);
      return Promise.resolve(reply(...args));
    },
  ]);
  const { executeSql, ...boss } = Object.fromEntries(methods) as Record<Method, unknown>;
  const ask = executeSql as (text: string, values: unknown[]) => unknown;
  const inUtf8 = (text: string, values: unknown[]) =>
    text.includes('getdatabaseencoding()') ? answer({ encoding: 'UTF8' }) : ask(text, values);
  return {
    boss: { ...boss, getDb: () => ({ executeSql: inUtf8 }) } as unknown as PgBossClient,
    calls,
    /** The arguments of each call of a method. */
    callsOf: (method: Method) => calls.filter(([name]) => name === method).map(([, ...of]) => of),
  };
}

export const DELIVERY: QueuedDelivery = {
  webhookId: 'webhook-1',
  timestamp: 1_700_000_000,
  receivedAt: 1_700_000_001_000,
  key: 'call-1:call:completed',
  eventName: 'call:completed',
  body: Buffer.from('{"eventName":"call:completed","callId":"call-1"}').toString('base64'),
};

/** A number in `retryLimit` from which on a worker gives up jobs. pg-boss never gets there by itself. */
export const BEYOND = 1_000_000_000;

/** A job in its first run of three, as pg-boss hands it out. It is kept for a day. */
export const fetchedJob = (more: Partial<PgBossJob> = {}): PgBossJob => ({
  id: 'job-1',
  data: DELIVERY,
  retryCount: 0,
  retryLimit: BEYOND + 2,
  retryDelay: 60,
  retryBackoff: false,
  expireInSeconds: 300,
  deadLetter: null,
  createdOn: new Date('2026-01-01T00:00:00Z'),
  keepUntil: new Date('2026-01-02T00:00:00Z'),
  output: null,
  ...more,
});
