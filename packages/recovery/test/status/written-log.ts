import { memoryStore } from '@call-webhooks/core';
import {
  counterName,
  type EventState,
  type OutcomeBatch,
  type OutcomeRow,
} from '@call-webhooks/core/stores';
import { status, type StatusOptions } from '@call-webhooks/recovery';
import { DAY, HOUR, MINUTE, MONDAY } from './service-model.ts';

/** Monday at 14:00 UTC. */
export const NOW = MONDAY + 14 * HOUR;

/** A store whose log was written before. */
export async function storeWith(batch: Partial<OutcomeBatch>, now = NOW) {
  const store = memoryStore({ now: () => now });
  await store.log?.append({
    ...{ id: 'batch', rows: [], failures: [], counts: {}, marks: {} },
    process: { id: 'p', host: 'h', pid: 1, startedAt: NOW - DAY, at: now, inFlight: 0 },
    ...batch,
  });
  return store;
}

export const ack = (eventName: string, tenant = '') =>
  counterName('ack', tenant, eventName, 'secret-1');

/** What a status is made of: the log, and what the store says of events and of reconcile runs. */
export interface Written extends Partial<OutcomeBatch> {
  readonly states?: Readonly<Record<string, EventState>>;
  readonly cursors?: Readonly<Record<string, string>>;
  /** A day by default; milliseconds. */
  readonly rememberFor?: number;
  /** How long after `NOW` it is; milliseconds. */
  readonly later?: number;
  readonly asked?: Partial<StatusOptions>;
}

/** The status of what was written, with its times in UTC. */
export async function statusOf(written: Written) {
  const { states = {}, cursors = {}, rememberFor = DAY, later = 0, asked, ...batch } = written;
  const { log } = await storeWith(batch, NOW + later);
  const store = {
    ...{ log, rememberFor },
    peek: async (keys: readonly string[]) => keys.map((key) => states[key]),
    loadCursor: async (name: string) => cursors[name],
  };
  return status({ store, timeZone: 'UTC', ...asked });
}

/** A delivery that failed so many minutes ago, unless it is told otherwise. */
export const rowAt = (minutes: number, more: Partial<OutcomeRow> = {}): OutcomeRow => ({
  ...{ at: NOW - minutes * MINUTE, process: 'p', durationMs: 1, source: 'webhook' },
  ...{ outcome: 'handler-failed', webhookId: `w-${String(minutes)}`, attempt: 1 },
  ...{ eventName: 'call:completed', ...more },
});

/** Counters of minutes, each so many minutes ago. */
export const minutesAgo = (counts: Readonly<Record<number, Readonly<Record<string, number>>>>) =>
  periodsAgo(counts, 1);

/** Counters of ten minutes, each so many periods ago. */
export const periodsAgo = (
  counts: Readonly<Record<number, Readonly<Record<string, number>>>>,
  minutes = 10,
) =>
  Object.fromEntries(
    Object.entries(counts).map(([ago, counters]) => [
      Math.floor(NOW / (minutes * MINUTE)) - Number(ago),
      counters,
    ]),
  );
