import type { Outcome } from '@call-webhooks/core';
import type { SecretUse } from '../api-types.ts';

/** There may be any number of tenants. */
const MAX_SECRETS = 200;

/** Which secret verified what, and when last. */
export class SecretUses {
  readonly #uses = new Map<string, SecretUse>();

  add({ secretId, tenant = null, eventName = null }: SecretOutcome, at: number): void {
    if (secretId === undefined) return;
    const name = JSON.stringify([tenant, secretId]);
    const verified = (this.#uses.get(name)?.verified ?? 0) + 1;
    this.#uses.delete(name); // set again at the end: the first one was used longest ago
    this.#uses.set(name, { secretId, tenant, verified, lastAt: at, lastEventName: eventName });
    if (this.#uses.size <= MAX_SECRETS) return;
    for (const oldest of this.#uses.keys()) {
      this.#uses.delete(oldest);
      return;
    }
  }

  /** The one that was used last comes first. */
  list(): SecretUse[] {
    return [...this.#uses.values()].reverse();
  }
}

type SecretOutcome = Omit<
  Pick<Outcome, 'secretId' | 'eventName' | 'tenant'>,
  'eventName' | 'tenant'
> & {
  tenant?: string | null;
  eventName?: string | null;
};
