import * as z from 'zod/mini';
import { SimulatorError } from '../errors.ts';
import type { ChangeEmitter } from '../records.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** The signing secret of one webhook action. */
export interface ActionSecret {
  /** Signs the next delivery. */
  readonly current: string;
  /** The secret before the last rotation. Only the chaos mode `oldSecret` still signs with it. */
  readonly previous?: string;
  /** The number of rotations. */
  readonly rotations: number;
}

/** The signing secrets of all webhook actions, including the recording webhook. */
export class Secrets {
  readonly #random: SeededRandom;
  readonly #changes: ChangeEmitter;
  readonly #byAction = new Map<string, ActionSecret>();

  constructor(random: SeededRandom, changes: ChangeEmitter) {
    this.#random = random;
    this.#changes = changes;
  }

  /** The current secrets of all signed actions, without repeats. */
  all(): string[] {
    return [...new Set([...this.#byAction.values()].map((secret) => secret.current))];
  }

  /** The secret of an action; `undefined` when the action is unsigned or unknown. */
  get(actionId: string): ActionSecret | undefined {
    return this.#byAction.get(actionId);
  }

  /**
   * Replaces the secret of an action. The next delivery is signed with the new one (spec, "Rotation").
   * @returns the new secret
   * @throws SimulatorError `not-found` when the action has no secret
   */
  rotate(actionId: string): string {
    const old = this.#byAction.get(actionId);
    if (!old) throw new SimulatorError('not-found', 'No signed action has this id.');
    const rotations = old.rotations + 1;
    const current = this.#random.secret(actionId, rotations);
    this.#byAction.set(actionId, { current, previous: old.current, rotations });
    this.#changes.emit('secret', actionId);
    return current;
  }

  /** @internal */
  issue(actionId: string, chosen: string | undefined): void {
    const current = chosen ?? this.#random.secret(actionId, 0);
    this.#byAction.set(actionId, { current, rotations: 0 });
  }

  /** @internal */
  forget(actionId: string): void {
    this.#byAction.delete(actionId);
  }

  /** @internal */
  clear(): void {
    this.#byAction.clear();
  }
}

/** A signing secret that receivers take. @guess Length and padding of secrets */
export const secretText = () =>
  z.custom<string>(
    isSecret,
    'a signing secret: "whsec_" followed by the base64 of at least 16 bytes',
  );

function isSecret(secret: unknown): boolean {
  const base64 = /^whsec_(.+)$/.exec(String(secret))?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  const canonical = bytes.toString('base64');
  return bytes.length >= 16 && [canonical, canonical.replace(/=+$/, '')].includes(base64);
}
