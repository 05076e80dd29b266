import { OUTCOMES, type Outcome } from '@call-webhooks/core';
import type { DeliveryRow, Summary } from '../api-types.ts';
import { Histogram } from './histogram.ts';

const SOURCES = ['webhook', 'queue', 'redrive', 'reconcile'];
const TOTALS = ['deliveries', 'acknowledged', 'failed', 'refused', 'late'] as const;
const TIMES = ['handlerMs', 'lagMs', 'queueLagMs', 'durationMs'] as const;

/** Whether a delivery is done, comes again, or is of nobody that is known. */
export function resultOf({
  status,
  webhookId,
}: Pick<Outcome, 'status' | 'webhookId'>): DeliveryRow['result'] {
  if (status < 300) return 'acknowledged';
  return webhookId === undefined ? 'refused' : 'failed';
}

/** What is counted of the deliveries of a stretch of time. */
export class Counts {
  readonly #totals = { deliveries: 0, acknowledged: 0, failed: 0, refused: 0, late: 0 };
  readonly #outcomes = new Map<string, number>();
  readonly #sources = new Map<string, number>();
  readonly #times = {
    handlerMs: new Histogram(),
    lagMs: new Histogram(),
    queueLagMs: new Histogram(),
    durationMs: new Histogram(),
  };

  get deliveries(): number {
    return this.#totals.deliveries;
  }

  add(outcome: Outcome): void {
    this.#times.handlerMs.add(outcome.handlerMs);
    // Its delivery was counted when it missed its deadline.
    if (outcome.late) {
      this.#totals.late += 1;
      return;
    }
    this.#totals.deliveries += 1;
    this.#totals[resultOf(outcome)] += 1;
    addTo(this.#outcomes, outcome.outcome, 1);
    addTo(this.#sources, outcome.source, 1);
    this.#times[outcome.queued ? 'queueLagMs' : 'lagMs'].add(outcome.lagMs);
    this.#times.durationMs.add(outcome.durationMs);
  }

  merge(other: Counts): void {
    for (const name of TOTALS) this.#totals[name] += other.#totals[name];
    for (const [code, count] of other.#outcomes) addTo(this.#outcomes, code, count);
    for (const [source, count] of other.#sources) addTo(this.#sources, source, count);
    for (const name of TIMES) this.#times[name].merge(other.#times[name]);
  }

  summary(): Summary {
    const { handlerMs, lagMs, queueLagMs, durationMs } = this.#times;
    return {
      ...this.#totals,
      outcomes: Object.fromEntries(this.#outcomes),
      sources: Object.fromEntries(this.#sources),
      handlerMs: handlerMs.percentiles(),
      lagMs: lagMs.percentiles(),
      queueLagMs: queueLagMs.percentiles(),
      durationMs: durationMs.percentiles(),
    };
  }

  toJSON(): object {
    return {
      ...this.#totals,
      outcomes: Object.fromEntries(this.#outcomes),
      sources: Object.fromEntries(this.#sources),
      ...this.#times,
    };
  }

  /** @param json what `toJSON` made, perhaps by another version; what is unknown is left out */
  static from(json: unknown): Counts {
    const counts = new Counts();
    const given = Object(json) as Record<string, unknown>;
    for (const name of TOTALS) counts.#totals[name] = countOf(given[name]);
    for (const [code, count] of entriesOf(given['outcomes']))
      if (Object.hasOwn(OUTCOMES, code)) counts.#outcomes.set(code, countOf(count));
    for (const [source, count] of entriesOf(given['sources']))
      if (SOURCES.includes(source)) counts.#sources.set(source, countOf(count));
    for (const name of TIMES) counts.#times[name].merge(Histogram.from(given[name]));
    return counts;
  }
}

function addTo(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

const entriesOf = (value: unknown): [string, unknown][] => Object.entries(Object(value) as object);

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
