import { memoryStore } from '@call-webhooks/core';
import { counterName, type OutcomeBatch } from '@call-webhooks/core/stores';
import { DAY, HOUR, MONDAY } from './service-model.ts';

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
