import { LRUCache } from 'lru-cache';
import { prepareKey } from '#hmac';
import type { WebhookError } from '../outcome/webhook-error.ts';
import type { Redact } from '../redact/redactor.ts';
import type { Logger } from '../reporting/logger.ts';
import { flat } from '../store/id-cache.ts';
import type { DeadlineScheduler } from '../time/deadline-scheduler.ts';
import { REFUSED, SecretLookups } from './secret-lookups.ts';
import {
  MAX_AGE_MS,
  MIN_REFRESH_INTERVAL_MS,
  providerFailed,
  RETRY_AFTER_MS,
  warnOfOldSecrets,
  type SecretProvider,
} from './secret-provider.ts';
import { keysOf, type Key, type KeySource } from './secrets.ts';
import { reportsRarely, type NamedTenant } from './tenant-names.ts';

/** How many tenants with secrets are known; about 1 kB each. */
const MAX_TENANTS = 20_000;
/** How many names without secrets are known. The budget allows fewer before they are forgotten. */
const MAX_STRANGERS = 2_000;

/** What is known of one name. */
interface Entry {
  /** Those of nobody, if there is no such tenant. */
  keys: readonly Key[];
  /** When they were loaded, and when the provider was called last; `performance.now()`. */
  loadedAt: number;
  askedAt: number;
  failure?: WebhookError | undefined;
  /** Whether the budget gets its last lookup back once it has verified a delivery. */
  owed?: boolean;
}

type Loaded = readonly Key[] | typeof REFUSED;

/** The keys for one delivery. */
export interface TenantKeySource extends KeySource {
  /** The delivery was verified with these keys. */
  verified(): void;
}

/**
 * The keys of each tenant. A name that has no secret is treated as a tenant whose secret is random:
 * the same work is done for it, in the same order, and with the same answer.
 *
 * What strangers can do is bounded: names without a secret have a cache of their own, and lookups
 * that verify nothing have a budget. While it is used up, only tenants that are known are let in.
 */
export class TenantKeys {
  readonly #lookups: SecretLookups;
  readonly #logger: Logger;
  readonly #redact: Redact | undefined;
  readonly #tenants = new LRUCache<string, Entry>({ max: MAX_TENANTS });
  readonly #strangers = new LRUCache<string, Entry>({ max: MAX_STRANGERS });
  readonly #loading = new Map<string, Promise<Loaded>>();
  readonly #mayReport = reportsRarely();
  #keysOfNobody: readonly Key[] | undefined;

  constructor(
    provider: SecretProvider,
    scheduler: DeadlineScheduler,
    logger: Logger,
    redact?: Redact,
  ) {
    this.#lookups = new SecretLookups(provider, scheduler);
    this.#logger = logger;
    this.#redact = redact;
  }

  of({ name: tenant, failure }: NamedTenant): TenantKeySource {
    if (tenant === undefined) {
      const nobody = () => this.#nobody;
      return {
        keys() {
          if (failure) throw failure;
          return nobody();
        },
        refresh: () => Promise.resolve(undefined),
        verified: () => undefined,
        mismatch: 'The request names no tenant, or what it names can be no name of a tenant.',
      };
    }
    const tenants = this.#tenants;
    let isRefused = false;
    return {
      keys: (webhookId) => this.#keys(tenant, webhookId),
      refresh: async (webhookId, tried) => {
        const keys = await this.#refresh(tenant, webhookId, tried);
        isRefused = keys === REFUSED;
        return keys === REFUSED ? undefined : keys;
      },
      verified: () => {
        this.#verified(tenant);
      },
      get mismatch() {
        if (tenants.has(tenant)) return undefined;
        return isRefused
          ? 'The secret of its tenant was not looked up: too many lookups verified nothing.'
          : 'There is no secret for this tenant.';
      },
    };
  }

  /** A random key, that nobody has. Not at import: Workers allow no random values there. */
  get #nobody(): readonly Key[] {
    return (this.#keysOfNobody ??= [
      { id: 'nobody', hmac: prepareKey(crypto.getRandomValues(new Uint8Array(32))) },
    ]);
  }

  #keys(tenant: string, webhookId: string): readonly Key[] | Promise<readonly Key[]> {
    const entry = this.#tenants.peek(tenant);
    if (!entry) return this.#nobody; // `refresh` asks for others, as it does for a forgery
    if (performance.now() - entry.loadedAt < MAX_AGE_MS) return entry.keys;
    return this.#reload(tenant, webhookId, entry);
  }

  /** Not paid for: a secret that was revoked must not stay in use. */
  async #reload(tenant: string, webhookId: string, entry: Entry): Promise<readonly Key[]> {
    try {
      const keys = await this.#load(tenant, webhookId, entry, false);
      return keys === REFUSED ? entry.keys : keys;
    } catch (error) {
      // Working keys stay in use while the secrets manager is down.
      entry.loadedAt = performance.now();
      warnOfOldSecrets(error as WebhookError, this.#logger, this.#redact, tenant);
      return entry.keys;
    }
  }

  async #refresh(
    tenant: string,
    webhookId: string,
    tried: readonly Key[],
  ): Promise<Loaded | undefined> {
    const loading = this.#loading.get(tenant);
    if (loading) return loading;
    const known = this.#tenants.peek(tenant);
    const entry = known ?? this.#strangers.peek(tenant);
    if (entry && entry.keys !== tried) return entry.keys;
    const age = performance.now() - (entry?.askedAt ?? -Infinity);
    if (entry?.failure && age < RETRY_AFTER_MS) throw entry.failure;
    if (!entry?.failure && age < MIN_REFRESH_INTERVAL_MS) return undefined;
    return this.#load(tenant, webhookId, known, true);
  }

  /** Calls the provider, once for all deliveries that wait for it. */
  #load(
    tenant: string,
    webhookId: string,
    known: Entry | undefined,
    isPaid: boolean,
  ): Promise<Loaded> {
    const pending = this.#loading.get(tenant);
    if (pending) return pending;
    const name = flat(tenant);
    const load = async () => {
      try {
        const request = { tenant: name, webhookId, refresh: known !== undefined };
        const secret = await this.#lookups.ask(request, isPaid);
        if (secret === REFUSED) return REFUSED;
        const keys = isNone(secret) ? this.#nobody : keysOf(secret);
        const at = performance.now();
        this.#keep(name, { keys, loadedAt: at, askedAt: at, owed: isPaid });
        return keys;
      } catch (error) {
        const failure = providerFailed(error, false);
        const entry = known ?? { keys: this.#nobody, loadedAt: -Infinity, askedAt: 0 };
        Object.assign(entry, { failure, askedAt: performance.now() });
        if (!known) this.#strangers.set(name, entry);
        throw this.#mayReport() ? providerFailed(error) : failure;
      } finally {
        this.#loading.delete(name);
      }
    };
    const loading = load();
    this.#loading.set(name, loading);
    return loading;
  }

  #keep(tenant: string, entry: Entry): void {
    const isTenant = entry.keys !== this.#nobody;
    (isTenant ? this.#tenants : this.#strangers).set(tenant, entry);
    (isTenant ? this.#strangers : this.#tenants).delete(tenant);
  }

  #verified(tenant: string): void {
    const entry = this.#tenants.get(tenant); // which makes it the one that is evicted last
    if (entry?.owed !== true) return;
    entry.owed = false;
    this.#lookups.giveBack();
  }
}

const isNone = (secret: unknown) =>
  secret === undefined || secret === null || (Array.isArray(secret) && secret.length === 0);
