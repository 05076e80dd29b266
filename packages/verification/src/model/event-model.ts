import type { Admission, Claim, DoneMark } from '@call-webhooks/core/stores';

/** Milliseconds: what webhook ids and leases expire by. */
export interface ModelClocks {
  readonly wall: () => number;
  /** The monotonic clock for a store of one process, the wall clock for a shared one. */
  readonly lease: () => number;
}

/** The state of one event. */
interface EventState {
  done: boolean;
  /** Whether the dead letters have it. */
  dead: boolean;
  attempts: number;
  lease?: { token: string; until: number } | undefined;
  /** When the last lease ended that was given back. */
  endedAt: number;
}

/**
 * The event state machine in its simplest form. It never forgets anything, except webhook ids that have
 * expired.
 */
export class EventModel {
  readonly #events = new Map<string, EventState>();
  /** The events of each group. */
  readonly #groups = new Map<string, Set<string>>();
  readonly #webhookIds = new Map<string, { token: string; until: number }>();
  readonly #clocks: ModelClocks;
  readonly #onTakenOver: () => void;

  /** @param onTakenOver called when another claim takes over an expired lease */
  constructor(clocks: ModelClocks, onTakenOver: () => void) {
    this.#clocks = clocks;
    this.#onTakenOver = onTakenOver;
  }

  admit({ webhookId, replayUntil, key, leaseMs, token, group }: Claim): Admission {
    const seen = this.#webhookIds.get(webhookId);
    if (seen && seen.until > this.#clocks.wall() && seen.token !== token)
      return { status: 'replayed' };
    this.#webhookIds.set(webhookId, { token, until: replayUntil });
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    const event = this.#event(key);
    if (event.done) return { status: 'duplicate' };
    if (event.dead) return { status: 'dead-lettered' };
    if (this.lease(key)) {
      return event.lease?.token === token
        ? { status: 'admitted', attempt: event.attempts }
        : { status: 'in-progress' };
    }
    if (group !== undefined) {
      if (this.isBusy(group)) return { status: 'group-busy' };
      this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(key));
    }
    if (event.lease) this.#onTakenOver();
    event.attempts++;
    event.lease = { token, until: this.#clocks.lease() + leaseMs };
    return { status: 'admitted', attempt: event.attempts };
  }

  complete(key: string, token: string, mark?: DoneMark): boolean {
    return this.#withLease(key, token, (event) => {
      if (mark === undefined) event.done = true;
      else event.dead = true;
      event.lease = undefined;
      event.endedAt = this.#clocks.lease();
    });
  }

  release(key: string, token: string): boolean {
    return this.#withLease(key, token, (event) => {
      event.lease = undefined;
      event.endedAt = this.#clocks.lease();
    });
  }

  extend(key: string, token: string, leaseMs: number): boolean {
    return this.#withLease(key, token, (event) => {
      event.lease = { token, until: this.#clocks.lease() + leaseMs };
    });
  }

  reopen(key: string): boolean {
    const event = this.#event(key);
    if (!event.dead) return false;
    event.dead = false;
    event.attempts = 0;
    return true;
  }

  isDone(key: string): boolean {
    return this.#event(key).done;
  }

  isDead(key: string): boolean {
    return this.#event(key).dead;
  }

  /** How many times it was admitted. */
  attempts(key: string): number {
    return this.#event(key).attempts;
  }

  /** Whether a delivery with this id was ever admitted or refused. */
  saw(webhookId: string): boolean {
    return this.#webhookIds.has(webhookId);
  }

  /** The token of the live lease, if there is one. */
  lease(key: string): string | undefined {
    const { lease } = this.#event(key);
    return lease && lease.until > this.#clocks.lease() ? lease.token : undefined;
  }

  /** Whether an event of the group holds a lease. */
  isBusy(group: string): boolean {
    return [...(this.#groups.get(group) ?? [])].some((key) => this.lease(key) !== undefined);
  }

  /** For how many milliseconds no event of the group has held a lease. */
  freeFor(group: string): number {
    const ends = [...(this.#groups.get(group) ?? [])].map((key) => {
      const { lease, endedAt } = this.#event(key);
      return lease?.until ?? endedAt;
    });
    return Math.max(0, this.#clocks.lease() - Math.max(-Infinity, ...ends));
  }

  #event(key: string): EventState {
    const known = this.#events.get(key);
    if (known) return known;
    const event: EventState = { done: false, dead: false, attempts: 0, endedAt: -Infinity };
    this.#events.set(key, event);
    return event;
  }

  #withLease(key: string, token: string, change: (event: EventState) => void): boolean {
    if (this.lease(key) !== token) return false;
    change(this.#event(key));
    return true;
  }
}
