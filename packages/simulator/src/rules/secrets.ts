import * as z from 'zod/mini';
import { SimulatorError } from '../errors.ts';
import type { ChangeEmitter } from '../records.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** The signing secret of one webhook action. */
export interface ActionSecret {
  /** The secret that signs the next delivery. */
  readonly current: string;
  /** The secret before the last rotation. Only the chaos mode `oldSecret` still signs with it. */
  readonly previous?: string;
  /** The number of rotations so far. */
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

  /** Returns the current secrets of all signed actions, each once. Pass them to your receiver. */
  all(): string[] {
    return [...new Set([...this.#byAction.values()].map((secret) => secret.current))];
  }

  /** Returns the secret of an action, or `undefined` if the action is unsigned or unknown. */
  get(actionId: string): ActionSecret | undefined {
    return this.#byAction.get(actionId);
  }

  /**
   * Replaces the secret of an action. The next delivery is signed with the new one (spec, "Rotation").
   * @returns the new secret
   * @throws SimulatorError `not-found` if no signed action has this id
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
