import { isDeepStrictEqual } from 'node:util';
import type { Store } from '@call-webhooks/core';
import type { Admission, Claim, DoneMark } from '@call-webhooks/core/stores';
import type { EventModel } from './event-model.ts';
import { assertThat, Violation } from './assert.ts';

/** A fault between one machine and the store. */
export type StoreFault =
  | 'none'
  /** Calls fail. */
  | 'down'
  /** Calls neither arrive nor return. */
  | 'hang'
  /** Calls take effect, but their replies are lost. */
  | 'lost-reply';

/** One machine's connection to the shared store. Injects faults, and compares each reply with the model's. */
export class CheckedStore implements Store {
  fault: StoreFault = 'none';
  /** A crashed machine makes no calls. */
  dead = false;
  /** For a moment, calls fail as if the store were down. */
  isCut = false;
  readonly #store: Store;
  readonly #model: EventModel;
  readonly #violations: Violation[];
  /** Admissions without a handler run so far, by webhook id. */
  readonly #admissions = new Map<string, { token: string; attempt: number }>();

  readonly completeIn?: (tx: unknown, key: string, token: string) => boolean;

  /** @param violations where mismatches are noted */
  constructor(store: Store, model: EventModel, violations: Violation[]) {
    this.#store = store;
    this.#model = model;
    this.#violations = violations;
    if (store.completeIn) this.completeIn = this.#completeIn;
  }

  /** Takes the admission that a handler run belongs to. @throws Violation when there is none */
  takeAdmission(webhookId: string): { token: string; attempt: number } {
    const admission = this.#admissions.get(webhookId);
    assertThat(admission !== undefined, `a handler ran for ${webhookId} without an admission`);
    this.#admissions.delete(webhookId);
    return admission;
  }

  async admit(claim: Claim): Promise<Admission> {
    const { webhookId, key, token } = claim;
    const admission = await this.#call(
      `admit ${key ?? webhookId}`,
      () => this.#store.admit(claim),
      () => this.#model.admit(claim),
    );
    if (admission.status === 'admitted')
      this.#admissions.set(webhookId, { token, attempt: admission.attempt });
    return admission;
  }

  complete(key: string, token: string, mark?: DoneMark): Promise<boolean> {
    return this.#call(
      `complete ${key}`,
      () => this.#store.complete(key, token, mark),
      () => this.#model.complete(key, token, mark),
    );
  }

  release(key: string, token: string): Promise<boolean> {
    return this.#call(
      `release ${key}`,
      () => this.#store.release(key, token),
      () => this.#model.release(key, token),
    );
  }

  extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    return this.#call(
      `extend ${key}`,
      () => this.#store.extend(key, token, leaseMs),
      () => this.#model.extend(key, token, leaseMs),
    );
  }

  /** In a transaction of the handler, which the model learns of when it is committed. */
  readonly #completeIn = (tx: unknown, key: string, token: string): boolean => {
    if (this.dead || this.fault !== 'none') throw new Error('the connection was lost');
    const held = this.#store.completeIn?.(tx, key, token) as boolean;
    if (held !== (this.#model.lease(key) === token))
      this.#violations.push(new Violation(`completeIn ${key}: the store replied ${String(held)}`));
    return held;
  };

  async #call<T>(what: string, real: () => Promise<T>, model: () => T): Promise<T> {
    if (this.dead || this.fault === 'hang') return new Promise<never>(() => undefined);
    if (this.fault === 'down' || this.isCut) throw new Error('the store is down');
    const isLost = this.fault === 'lost-reply';
    const expected = model();
    const reply = await real();
    if (!isDeepStrictEqual(reply, expected))
      this.#violations.push(
        new Violation(
          `${what}: the store replied ${JSON.stringify(reply)}, the model ${JSON.stringify(expected)}`,
        ),
      );
    if (isLost) throw new Error('the connection was lost');
    return reply;
  }
}
