import { Records, type ChangeEmitter } from '../records.ts';
import type { WebhookEvent, WebhookEventState } from './webhook-event.ts';

/** Which events to list. A field that is left out matches all events. */
export interface WebhookEventFilter {
  /** Only events in this state. */
  state?: WebhookEventState | undefined;
  /** Only events of the rule with this `_id`. */
  ruleId?: string | undefined;
  /** Only events of the call with this `_id`. */
  callId?: string | undefined;
  /** Only events with this name. */
  eventName?: string | undefined;
}

const FINISHED: readonly WebhookEventState[] = ['acknowledged', 'failed', 'dropped'];

/** All events, in the order of creation, and the number in each state. */
export class EventLog {
  readonly #events: Records<WebhookEvent>;
  readonly #counts = new Map<WebhookEventState, number>();

  /** @param keep how many events to keep; beyond it, the oldest finished one is removed */
  constructor(changes: ChangeEmitter, keep: number) {
    this.#events = new Records('event', changes, {
      keep,
      isFinished: ({ state }) => FINISHED.includes(state),
      onRemoved: ({ state }) => this.#count(state, -1),
    });
  }

  list(filter: WebhookEventFilter = {}): WebhookEvent[] {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    return this.#events
      .list()
      .filter((event) =>
        wanted.every(([name, value]) => event[name as keyof WebhookEventFilter] === value),
      );
  }

  find(id: string): WebhookEvent | undefined {
    return this.#events.find(id);
  }

  /** @throws SimulatorError `not-found` */
  get(id: string): WebhookEvent {
    return this.#events.get(id);
  }

  /** @param make is given how many events were created before */
  add(make: (created: number) => WebhookEvent): WebhookEvent {
    return this.put(make(this.#events.created));
  }

  put(event: WebhookEvent): WebhookEvent {
    const old = this.#events.find(event._id);
    if (old) this.#count(old.state, -1);
    this.#count(event.state, 1);
    return this.#events.put(event);
  }

  /** The number of events in each state. */
  counts(): Partial<Record<WebhookEventState, number>> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count > 0));
  }

  clear(): void {
    this.#events.clear();
    this.#counts.clear();
  }

  #count(state: WebhookEventState, by: 1 | -1): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + by);
  }
}
