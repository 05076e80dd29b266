import type { Outcome } from '@call-webhooks/core';
import type { StoreMessage } from '@call-webhooks/core/internal';
import { ROOT_CONTEXT, type Context } from '@opentelemetry/api';

/**
 * In which context each lease was taken. Core renews all leases with one timer, which runs in the
 * context of any delivery.
 */
export class LeaseContexts {
  readonly #claims = new WeakMap<object, Context>();
  /** By key, from the claim of an event to the outcome of its run. */
  readonly #held = new Map<string, Context>();

  /** @returns `undefined` for a message that is no renewal */
  contextOf(message: object): Context | undefined {
    const { operation, key = '' } = message as Partial<StoreMessage>;
    return operation === 'extend' ? (this.#held.get(key) ?? ROOT_CONTEXT) : undefined;
  }

  onClaim(message: StoreMessage, context: Context): void {
    if (message.operation === 'admit') this.#claims.set(message, context);
  }

  onAnswer(message: StoreMessage): void {
    const { key, result } = message;
    const context = this.#claims.get(message);
    const isAdmitted = typeof result === 'object' && result.status === 'admitted';
    if (context && key !== undefined && isAdmitted) this.#held.set(key, context);
  }

  /** Only who held the lease has an attempt. After `deadline`, the run goes on. */
  onOutcome({ outcome, key, attempt }: Outcome): void {
    if (key !== undefined && attempt !== undefined && outcome !== 'deadline')
      this.#held.delete(key);
  }
}
