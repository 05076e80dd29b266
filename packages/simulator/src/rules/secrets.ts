import type { Journal } from '../journal.ts';
import type { Draws } from '../seed/draws.ts';
import { SimulatorError } from '../simulator-error.ts';

/** The secrets of one webhook action. */
export interface ActionSecret {
  /** What the next delivery is signed with. */
  readonly current: string;
  /** What it was before the last rotation; only the chaos mode `oldSecret` still signs with it. */
  readonly previous?: string;
  /** How often it was rotated. */
  readonly rotations: number;
}

/** The signing secrets of all webhook actions, the recording webhook's among them. */
export class Secrets {
  readonly #draws: Draws;
  readonly #journal: Journal;
  readonly #byAction = new Map<string, ActionSecret>();

  constructor(draws: Draws, journal: Journal) {
    this.#draws = draws;
    this.#journal = journal;
  }

  /** The current secret of every signed action, without repeats: what a receiver has to know. */
  all(): string[] {
    return [...new Set([...this.#byAction.values()].map((secret) => secret.current))];
  }

  /** The secret of an action; `undefined` where it is unsigned, or there is no such action. */
  get(actionId: string): ActionSecret | undefined {
    return this.#byAction.get(actionId);
  }

  /**
   * Replaces an action's secret: the next delivery is signed with the new one (spec, "Rotation").
   * @returns the new secret
   * @throws SimulatorError `not-found` when the action has no secret
   */
  rotate(actionId: string): string {
    const old = this.#byAction.get(actionId);
    if (!old) throw new SimulatorError('not-found', 'There is no signed action with this id.');
    const rotations = old.rotations + 1;
    const current = this.#draws.secret(actionId, rotations);
    this.#byAction.set(actionId, { current, previous: old.current, rotations });
    this.#journal.record('secret', actionId);
    return current;
  }

  /** @internal */
  issue(actionId: string, chosen: string | undefined): void {
    const current = chosen ?? this.#draws.secret(actionId, 0);
    this.#byAction.set(actionId, { current, rotations: 0 });
  }

  /** @internal */
  forget(actionId: string): void {
    this.#byAction.delete(actionId);
  }

  /** @internal */
  entries(): (readonly [string, ActionSecret])[] {
    return [...this.#byAction];
  }

  /** @internal */
  restore(entries: readonly (readonly [string, ActionSecret])[]): void {
    this.#byAction.clear();
    for (const [actionId, secret] of entries) this.#byAction.set(actionId, secret);
  }
}
