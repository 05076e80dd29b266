import { isDeepStrictEqual } from 'node:util';
import type { Admission, Claim, Store } from '@call-webhooks/core';
import type { EventModel } from './event-model.ts';
import { must, Violation } from './violation.ts';

/** What is wrong between one machine and the store. */
export type StoreFault =
  | 'none'
  /** Calls are refused. */
  | 'down'
  /** Calls never get there, and are never answered. */
  | 'hang'
  /** Calls are done, and their answers are lost. */
  | 'lost-answer';

/** One machine's way to the shared store: faulty if told so, and held against the model call by call. */
export class WatchedStore implements Store {
  fault: StoreFault = 'none';
  /** A crashed machine says nothing any more. */
  dead = false;
  /** What the model found; a store's caller would swallow it. */
  violation: Violation | undefined;
  readonly #store: Store;
  readonly #model: EventModel;
  readonly #now: () => number;
  /** Those that no handler run has used up yet, by webhook id. */
  readonly #admissions = new Map<string, { token: string; attempt: number }>();

  constructor(store: Store, model: EventModel, now: () => number) {
    this.#store = store;
    this.#model = model;
    this.#now = now;
  }

  /** The admission that a run of a handler uses up. @throws Violation when there is none */
  takeAdmission(webhookId: string): { token: string; attempt: number } {
    const admission = this.#admissions.get(webhookId);
    must(admission !== undefined, `a handler ran for ${webhookId}, which was not admitted`);
    this.#admissions.delete(webhookId);
    return admission;
  }

  async admit(claim: Claim): Promise<Admission> {
    const { webhookId, key, token } = claim;
    const admission = await this.#call(
      `admit ${key ?? webhookId}`,
      () => this.#store.admit(claim),
      () => this.#model.admit(claim, this.#now()),
    );
    if (admission.status === 'admitted')
      this.#admissions.set(webhookId, { token, attempt: admission.attempt });
    return admission;
  }

  complete(key: string, token: string): Promise<boolean> {
    return this.#call(
      `complete ${key}`,
      () => this.#store.complete(key, token),
      () => this.#model.complete(key, token, this.#now()),
    );
  }

  release(key: string, token: string): Promise<boolean> {
    return this.#call(
      `release ${key}`,
      () => this.#store.release(key, token),
      () => this.#model.release(key, token, this.#now()),
    );
  }

  extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    return this.#call(
      `extend ${key}`,
      () => this.#store.extend(key, token, leaseMs),
      () => this.#model.extend(key, token, leaseMs, this.#now()),
    );
  }

  async #call<T>(what: string, real: () => Promise<T>, model: () => T): Promise<T> {
    if (this.dead || this.fault === 'hang') return new Promise<never>(() => undefined);
    if (this.fault === 'down') throw new Error('the store is down');
    const lost = this.fault === 'lost-answer';
    const expected = model();
    const answer = await real();
    if (!isDeepStrictEqual(answer, expected))
      this.violation ??= new Violation(
        `${what}: the store says ${JSON.stringify(answer)}, the model ${JSON.stringify(expected)}`,
      );
    if (lost) throw new Error('the connection was lost');
    return answer;
  }
}
