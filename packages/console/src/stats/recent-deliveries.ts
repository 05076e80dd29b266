import type { Outcome } from '@call-webhooks/core';
import { redactId } from '@call-webhooks/core/internal';
import type { DeliveriesPage, DeliveryRow } from '../api-types.ts';
import { resultOf } from './counts.ts';

const MAX_MESSAGE = 500;
const MAX_NAMES = 50;

/** Which deliveries are meant. Every condition that is given has to hold. */
export interface DeliveryFilter {
  outcomes?: readonly string[] | undefined;
  results?: readonly string[] | undefined;
  source?: string | undefined;
  eventName?: string | undefined;
  callId?: string | undefined;
  tenant?: string | undefined;
  text?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** The latest deliveries of this process, in bounded memory. */
export class RecentDeliveries {
  readonly capacity: number;
  readonly #rows: DeliveryRow[] = [];
  /** How many there were; also the place of the next one. */
  #seen = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  add(outcome: Outcome, at: number): void {
    this.#rows[this.#seen % this.capacity] = rowOf(outcome, String(this.#seen + 1), at);
    this.#seen += 1;
  }

  /** @param before the id of the last row of the page before */
  page(filter: DeliveryFilter, limit: number, before = Infinity): Omit<DeliveriesPage, 'process'> {
    const matching = [...this.newestFirst()].filter((row) => matches(row, filter));
    const rest = matching.filter(({ id }) => Number(id) < before);
    const deliveries = rest.slice(0, limit);
    const last = deliveries.at(-1);
    return {
      deliveries,
      ...(last && rest.length > limit && { cursor: last.id }),
      matching: matching.length,
      kept: Math.min(this.#seen, this.capacity),
      capacity: this.capacity,
      eventNames: this.#namesOf('eventName'),
      tenants: this.#namesOf('tenant'),
    };
  }

  /** The deliveries of a call, oldest first. */
  ofCall(callId: string, tenant: string | undefined): DeliveryRow[] {
    const known = redactId(callId); // as the rows have it
    return [...this.newestFirst()]
      .filter((row) => row.callId === known && (tenant === undefined || row.tenant === tenant))
      .reverse();
  }

  *newestFirst(): Iterable<DeliveryRow> {
    const last = Math.max(0, this.#seen - this.capacity);
    for (let index = this.#seen - 1; index >= last; index -= 1) {
      const row = this.#rows[index % this.capacity];
      if (row) yield row;
    }
  }

  #namesOf(field: 'eventName' | 'tenant'): string[] {
    const names = new Set<string>();
    for (const { [field]: name } of this.#rows)
      if (name !== undefined && names.size < MAX_NAMES) names.add(name);
    return [...names].sort();
  }
}

function rowOf(outcome: Outcome, id: string, at: number): DeliveryRow {
  const { error, ...rest } = outcome;
  return {
    ...rest,
    id,
    at,
    result: resultOf(outcome),
    ...(error && { error: { code: error.code, message: error.message.slice(0, MAX_MESSAGE) } }),
  };
}

function matches(row: DeliveryRow, filter: DeliveryFilter): boolean {
  const { outcomes, results, source, eventName, callId, tenant, text, since, until } = filter;
  return (
    (outcomes?.includes(row.outcome) ?? true) &&
    (results?.includes(row.result) ?? true) &&
    (source === undefined || row.source === source) &&
    (eventName === undefined || row.eventName === eventName) &&
    (callId === undefined || row.callId === callId) &&
    (tenant === undefined || row.tenant === tenant) &&
    (since === undefined || row.at >= since) &&
    (until === undefined || row.at < until) &&
    (text === undefined || contains(row, text.toLowerCase()))
  );
}

function contains(row: DeliveryRow, text: string): boolean {
  const { outcome, source, eventName, callId, key, webhookId, tenant, secretId, error } = row;
  return [
    outcome,
    source,
    eventName,
    callId,
    key,
    webhookId,
    tenant,
    secretId,
    error?.message,
  ].some((value) => value?.toLowerCase().includes(text));
}
