import { EVENT_NAMES } from '@call-webhooks/core';
import { redactId } from '@call-webhooks/core/internal';

const MAX_LENGTH = 100;

/**
 * Names of events for metrics and span names, which must be few. The service's events have their
 * own, and so have the first others that are seen. The rest share one.
 */
export class EventLabels {
  readonly #labels = new Set<string>(EVENT_NAMES);
  readonly #size: number;

  /** @param others how many names besides the service's may have a label of their own */
  constructor(others: number) {
    this.#size = this.#labels.size + others;
  }

  /** @returns `none` without a name, as for a custom payload; `other` once there are too many */
  of(eventName: string | undefined): string {
    if (eventName === undefined) return 'none';
    const label = redactId(eventName).slice(0, MAX_LENGTH);
    if (this.#labels.has(label)) return label;
    if (this.#labels.size >= this.#size) return 'other';
    this.#labels.add(label);
    return label;
  }
}
