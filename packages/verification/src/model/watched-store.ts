import { isDeepStrictEqual } from 'node:util';
import type { Admission, Claim, Store } from '@call-webhooks/core';
import { ask, promised } from '../../../core/src/store/at-once.ts';
import type { Awaitable } from '../../../core/src/awaitable.ts';
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

  // The memory store is asked without promises, behind the port: so is what watches it.
  readonly admit = promised((claim: Claim) => this.#admit(claim)) as Store['admit'];

  readonly complete = promised((key: string, token: string) =>
    this.#call(
      `complete ${key}`,
      () => ask(this.#store, 'complete', key, token),
      () => this.#model.complete(key, token, this.#now()),
    ),
  ) as Store['complete'];

  readonly release = promised((key: string, token: string) =>
    this.#call(
      `release ${key}`,
      () => ask(this.#store, 'release', key, token),
      () => this.#model.release(key, token, this.#now()),
    ),
  ) as Store['release'];

  readonly extend = promised((key: string, token: string, leaseMs: number) =>
    this.#call(
      `extend ${key}`,
      () => ask(this.#store, 'extend', key, token, leaseMs),
      () => this.#model.extend(key, token, leaseMs, this.#now()),
    ),
  ) as Store['extend'];

  #admit(claim: Claim): Awaitable<Admission> {
    const { webhookId, key, token } = claim;
    const noted = (admission: Admission) => {
      if (admission.status === 'admitted')
        this.#admissions.set(webhookId, { token, attempt: admission.attempt });
      return admission;
    };
    const admission = this.#call(
      `admit ${key ?? webhookId}`,
      () => ask(this.#store, 'admit', claim),
      () => this.#model.admit(claim, this.#now()),
    );
    return mapped(admission, noted);
  }

  /** At once where the store answers at once. */
  #call<T>(what: string, real: () => Awaitable<T>, model: () => T): Awaitable<T> {
    if (this.dead || this.fault === 'hang') return new Promise<never>(() => undefined);
    if (this.fault === 'down') throw new Error('the store is down');
    const lost = this.fault === 'lost-answer';
    const expected = model();
    const checked = (answer: T): Awaitable<T> => {
      if (!isDeepStrictEqual(answer, expected))
        this.violation ??= new Violation(
          `${what}: the store says ${JSON.stringify(answer)}, the model ${JSON.stringify(expected)}`,
        );
      if (lost) return Promise.reject(new Error('the connection was lost'));
      return answer;
    };
    return mapped(real(), checked);
  }
}

function mapped<T>(answer: Awaitable<T>, map: (answer: T) => Awaitable<T>): Awaitable<T> {
  const pending = typeof answer === 'object' && answer !== null && 'then' in answer;
  return pending ? Promise.resolve(answer).then(map) : map(answer);
}
