import { generateSecret, sign } from '@call-webhooks/core';
import type { Behaviour, SentRequest } from './predict.ts';

/** All events of a scenario: two of one call, and one of another. */
export const EVENTS = [0, 1, 2] as const;
const NAMES = ['call:started', 'call:completed', 'call:completed'];
const callOf = (event: number) => (event < 2 ? 'call-0' : 'call-1');

/** "About every five minutes" of the spec; milliseconds. */
export const RETRY_AFTER_MS = 300_000;

/** The key that the receiver gives to an event of the model. */
export const keyOf = (event: number): string => `${callOf(event)}:${String(NAMES[event])}`;

/** The sender: signs attempts, remembers them, rotates its secret. */
export class Service {
  readonly #sent = new Map<string, SentRequest>();
  #secrets = [generateSecret()];

  /** How many requests an attacker may have captured. */
  get sentCount(): number {
    return this.#sent.size;
  }

  /** The newest secret, and the previous one for deliveries in flight. */
  get secrets(): string[] {
    return this.#secrets;
  }

  rotate(): void {
    this.#secrets = [generateSecret(), this.#secrets[0] as string];
  }

  /** A new attempt at an event, with its own webhook id, signed with the newest secret. */
  async attempt(event: number, behaviour: Behaviour, skewSeconds: number): Promise<SentRequest> {
    const callId = callOf(event);
    const body = Buffer.from(JSON.stringify({ eventName: NAMES[event], callId }));
    const webhookId = `id-${String(this.#sent.size)}`;
    const signedFor = Date.now() + skewSeconds * 1000;
    const secret = this.#secrets[0] as string;
    const timestamp = Math.floor(signedFor / 1000);
    const headers = await sign({ secret, body, webhookId, timestamp });
    const key = keyOf(event);
    const sent = { webhookId, key, callId, behaviour, signedFor, secret, headers, body };
    this.#sent.set(webhookId, sent);
    return sent;
  }

  captured(which: number): SentRequest {
    return [...this.#sent.values()][which % this.#sent.size] as SentRequest;
  }

  callId(webhookId: string): string {
    return this.#sent.get(webhookId)?.callId ?? '';
  }

  /** What the handler of this delivery does. */
  behaviour(webhookId: string): Behaviour | undefined {
    return this.#sent.get(webhookId)?.behaviour;
  }
}
