import { prepareKey } from '#hmac';
import { LRUCache } from 'lru-cache';
import { isPending, settle } from '../awaitable.ts';
import { type WebhookError, withOrigin } from '../errors.ts';
import type { TenantRequest } from '../http/request.ts';
import { redactedError } from '../report/error-text.ts';
import type { Logger } from '../report/logger.ts';
import type { Redact } from '../report/redact.ts';
import { isTenantName } from '../store/keys.ts';
import { flat } from '../store/memory-store.ts';
import { type DeadlineScheduler, TimeoutError } from '../time.ts';
import {
  MAX_AGE_MS,
  MIN_REFRESH_INTERVAL_MS,
  type ProvidedSecret,
  PROVIDER_TIMEOUT_MS,
  providerFailed,
  RETRY_AFTER_MS,
  type SecretProvider,
  warnOfOldSecrets,
} from './secret-provider.ts';
import { type Key, keysOf, type KeySource } from './secrets.ts';

/**
 * Names the tenant that a request is for, from its path, host or headers. It is called for every
 * request, before anything is verified, and must not wait.
 *
 * `undefined`, `null` and texts that can be no name (they have 1 to 128 printable characters) mean
 * that there is no such tenant: the request is answered as a forgery, 401. If it throws, or returns
 * anything else, that is taken for a bug of yours: 503 `secret-unavailable`.
 * @example
 * tenant: ({ path }) => path.split('/')[2] // of /hooks/acme
 */
export type TenantOf = (request: TenantRequest) => string | null | undefined;

/** What is known of a tenant before its delivery is verified. */
export interface NamedTenant {
  readonly name?: string | undefined;
  readonly failure?: WebhookError | undefined;
}

/** `onError` gets a failure that strangers may cause once in this time; milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/** Makes a function that says whether a failure is to be reported, which is so once in 10 s. */
export function reportsRarely(): () => boolean {
  let reportedAt = -Infinity;
  return () => {
    const now = performance.now();
    if (now - reportedAt < REPORT_INTERVAL_MS) return false;
    reportedAt = now;
    return true;
  };
}

/** Makes a function of the option `tenant` that never throws. */
export function safeTenantOf(tenantOf: TenantOf): (request: TenantRequest) => NamedTenant {
  const mayReport = reportsRarely();

  function failed(error: unknown): NamedTenant {
    const failure = redactedError('secret-unavailable', 'tenant failed: ', error);
    return { failure: mayReport() ? withOrigin(failure, { source: 'hook', error }) : failure };
  }

  return (request) => {
    try {
      const name: unknown = tenantOf(request);
      if (isTenantName(name)) return { name };
      if (name === undefined || name === null || typeof name === 'string') return {};
      if (isPending(name)) void settle(name, () => undefined);
      return failed(new TypeError('It must return a text, or undefined, at once.'));
    } catch (error) {
      return failed(error);
    }
  };
}

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

/** How many lookups may be wasted in one go. */
const BURST = 1_000;
/** How many more with each second. */
const PER_SECOND = 50;
/** How many calls run at the same time. */
const MAX_RUNNING = 100;
/** How many calls may wait. */
const MAX_WAITING = 20_000;

/** The provider was not called: too many lookups were wasted. */
export const REFUSED = Symbol();

/**
 * Bounds how often strangers can make the receiver ask for secrets. A lookup is wasted unless a
 * delivery is verified with its answer, and only senders of real tenants can achieve that.
 */
class LookupBudget {
  #left = BURST;
  #at = performance.now();

  /** @returns `false` if too many lookups were wasted */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) / 1_000) * PER_SECOND);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** A lookup was not wasted. */
  giveBack(): void {
    this.#left += 1;
  }
}

/** Runs a limited number of calls at the same time; the others wait in order. */
class CallQueue {
  #running = 0;
  readonly #waiting = new Set<() => void>();

  get full(): boolean {
    return this.#waiting.size >= MAX_WAITING;
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running < MAX_RUNNING) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    try {
      return await call();
    } finally {
      this.#next();
    }
  }

  /** The place of a call that ended goes to the one that waits longest. */
  #next(): void {
    for (const start of this.#waiting) {
      this.#waiting.delete(start);
      start();
      return;
    }
    this.#running -= 1;
  }
}

/** Calls the provider of the secrets of many tenants, within bounds that strangers can't exceed. */
export class SecretLookups {
  readonly #provider: SecretProvider;
  readonly #scheduler: DeadlineScheduler;
  readonly #budget = new LookupBudget();
  readonly #queue = new CallQueue();

  constructor(provider: SecretProvider, scheduler: DeadlineScheduler) {
    this.#provider = provider;
    this.#scheduler = scheduler;
  }

  /**
   * Rejects if the provider fails, or does not answer in time.
   * @param isPaid whether the budget pays for it
   */
  async ask(
    request: Parameters<SecretProvider>[0],
    isPaid: boolean,
  ): Promise<ProvidedSecret | typeof REFUSED> {
    if (this.#queue.full) return REFUSED;
    const startedAt = performance.now();
    const call = async () => {
      if (performance.now() - startedAt >= PROVIDER_TIMEOUT_MS)
        throw new TimeoutError(PROVIDER_TIMEOUT_MS);
      // Not before its turn: until then, those before it may have given back what they took.
      if (isPaid && !this.#budget.take()) return REFUSED;
      const answer = (async () => this.#provider(request))();
      return this.#scheduler.withTimeout(PROVIDER_TIMEOUT_MS, answer);
    };
    return this.#scheduler.withTimeout(PROVIDER_TIMEOUT_MS, this.#queue.run(call));
  }

  /** A lookup that was paid for has verified a delivery. */
  giveBack(): void {
    this.#budget.giveBack();
  }
}
