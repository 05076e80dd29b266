import { generateSecret, sign } from '@call-webhooks/core';
import type { Behaviour } from './transactions.ts';

/** A signed request as it was sent. */
export interface SentRequest {
  /** With the tenant, as stores have it. */
  webhookId: string;
  key: string;
  tenant: string | undefined;
  url: string;
  /** Its call, with the tenant. */
  group: string;
  behaviour: Behaviour;
  /** The time in its timestamp header; milliseconds. */
  signedFor: number;
  secret: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

interface ServiceEvent {
  readonly callId: string;
  readonly eventName: string;
  readonly tenant?: string;
}

const STARTED = { callId: 'call-0', eventName: 'call:started' };
const COMPLETED = { callId: 'call-0', eventName: 'call:completed' };
const OF_ANOTHER_CALL = { callId: 'call-1', eventName: 'call:completed' };

/** All events of a scenario: two of one call, and one of another. */
const EVENTS: readonly ServiceEvent[] = [STARTED, COMPLETED, OF_ANOTHER_CALL];
/** With tenants: the same of one of them, and an equal one of the other. */
const EVENTS_OF_TENANTS: readonly ServiceEvent[] = [
  ...EVENTS.map((event) => ({ ...event, tenant: 'a' })),
  { ...COMPLETED, tenant: 'b' },
];

/** The events of a scenario. */
export const eventsOf = (hasTenants: boolean) => (hasTenants ? EVENTS_OF_TENANTS : EVENTS);

/** "About every five minutes" of the spec; milliseconds. */
export const RETRY_AFTER_MS = 300_000;

/** A name as stores have it, written down a second time: the receiver's own rule is under test. */
const nameOf = (tenant: string | undefined, name: string): string =>
  tenant === undefined ? name : `tenant:${tenant}:${name}`;

const pathOf = (tenant = 'none') => `/hooks/${tenant}`;

/** The sender: signs attempts, remembers them, rotates its secrets. */
export class Service {
  readonly #events: readonly ServiceEvent[];
  readonly #sent = new Map<string, SentRequest>();
  readonly #secrets = new Map<string | undefined, string[]>();

  constructor(hasTenants = false) {
    this.#events = eventsOf(hasTenants);
    for (const { tenant } of this.#events) this.#secrets.set(tenant, [generateSecret()]);
  }

  /** The keys that the receiver gives to the events. */
  get keys(): string[] {
    return this.#events.map(({ tenant, callId, eventName }) =>
      nameOf(tenant, `${callId}:${eventName}`),
    );
  }

  /** How many requests an attacker may have captured. */
  get sentCount(): number {
    return this.#sent.size;
  }

  /** The newest secret of a tenant, and the previous one for deliveries in flight. */
  secrets(tenant: string | undefined): string[] {
    return this.#secrets.get(tenant) ?? [];
  }

  rotate(): void {
    for (const [tenant, [newest = '']] of this.#secrets)
      this.#secrets.set(tenant, [generateSecret(), newest]);
  }

  /** A new attempt at an event, with its own webhook id, signed with the newest secret. */
  async attempt(event: number, behaviour: Behaviour, skewSeconds: number): Promise<SentRequest> {
    const { tenant, callId, eventName } = this.#events[event] as ServiceEvent;
    const body = Buffer.from(JSON.stringify({ eventName, callId }));
    // Two tenants have equal ids.
    const ofTenant = [...this.#sent.values()].filter((sent) => sent.tenant === tenant);
    const id = `id-${String(ofTenant.length)}`;
    const signedFor = Date.now() + skewSeconds * 1000;
    const secret = this.secrets(tenant)[0] as string;
    const timestamp = Math.floor(signedFor / 1000);
    const headers = await sign({ secret, body, webhookId: id, timestamp });
    const sent = {
      webhookId: nameOf(tenant, id),
      key: this.keys[event] as string,
      tenant,
      url: pathOf(tenant),
      group: nameOf(tenant, callId),
      behaviour,
      signedFor,
      secret,
      headers,
      body,
    };
    this.#sent.set(sent.webhookId, sent);
    return sent;
  }

  captured(which: number): SentRequest {
    return [...this.#sent.values()][which % this.#sent.size] as SentRequest;
  }

  /** A captured request, sent to the other tenant. */
  stray(which: number): SentRequest {
    const sent = this.captured(which);
    const tenant = sent.tenant === 'a' ? 'b' : 'a';
    return { ...sent, tenant, url: pathOf(tenant) };
  }

  /** The request of a run, whose webhook id is the one of the handler's context. */
  sent(tenant: string | undefined, webhookId: string): SentRequest | undefined {
    return this.#sent.get(nameOf(tenant, webhookId));
  }
}
