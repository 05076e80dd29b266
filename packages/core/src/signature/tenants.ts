import { LRUCache } from 'lru-cache';
import { prepareKey } from '#platform';
import { settle, WebhookError, withOrigin } from '../errors.ts';
import type { HeadersLike, TenantRequest } from '../http/request.ts';
import { RequestView } from '../http/request.ts';
import { redactedError } from '../report/error-text.ts';
import { LineLimit } from '../report/logger.ts';
import { isTenantName } from '../store/keys.ts';
import type { Deadlines } from '../time.ts';
import {
  askInTime,
  CachedKeys,
  type ProvidedSecret,
  type SecretLog,
  type SecretProvider,
} from './secret-provider.ts';
import { keysOf, type Key, type KeySource } from './secrets.ts';

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

/** How many tenants with secrets are known; about 1 kB each. */
const MAX_TENANTS = 20_000;
/** How many names without secrets are known: anybody can send them, so they have a cache of their own. */
const MAX_STRANGERS = 2_000;
/** How many names are looked up at the same time. */
const MAX_LOOKUPS = 1_000;

/** Who a request is for, and the keys to verify it with. */
export interface RequestKeys {
  readonly tenant?: string | undefined;
  readonly keySource: KeySource;
}

/**
 * Names the tenant of each request, and caches the keys of each. A name without a secret is treated
 * as a tenant whose secret nobody knows: the same work is done for it, with the same answer.
 */
export class TenantKeys {
  readonly #tenantOf: TenantOf;
  readonly #provider: SecretProvider;
  readonly #deadlines: Deadlines;
  readonly #log: SecretLog;
  readonly #tenants = new LRUCache<string, KeySource>({ max: MAX_TENANTS });
  readonly #strangers = new LRUCache<string, KeySource>({ max: MAX_STRANGERS });
  #lookups = 0;
  /** Strangers can make the provider fail as often as they like. */
  readonly #reports = new LineLimit();
  #nobody: readonly Key[] | undefined;

  constructor(tenantOf: TenantOf, provider: SecretProvider, deadlines: Deadlines, log: SecretLog) {
    this.#tenantOf = tenantOf;
    this.#provider = provider;
    this.#deadlines = deadlines;
    this.#log = log;
  }

  of({ url = '/', headers }: { url?: string | undefined; headers: HeadersLike }): RequestKeys {
    let name: unknown;
    try {
      name = this.#tenantOf(new RequestView(url, headers));
    } catch (error) {
      return this.#failed(error);
    }
    if (isTenantName(name)) return { tenant: name, keySource: this.#keysOf(name) };
    if (name === undefined || name === null || typeof name === 'string')
      return {
        keySource: {
          current: () => Promise.resolve(this.#keysOfNobody()),
          refresh: () => Promise.resolve(undefined),
          mismatch: 'The request names no tenant, or what it names can be no name of a tenant.',
        },
      };
    void settle(name, () => undefined); // a promise that rejects must not end the process
    return this.#failed(new TypeError('It must return a text, or undefined, at once.'));
  }

  #failed(error: unknown): RequestKeys {
    const failure = redactedError('secret-unavailable', 'tenant failed: ', error);
    if (this.#reports.pass() !== undefined) withOrigin(failure, { source: 'hook', error });
    const current = () => Promise.reject(failure);
    return { keySource: { current, refresh: current } };
  }

  #keysOf(name: string): KeySource {
    const known = this.#tenants.get(name) ?? this.#strangers.get(name);
    if (known) return known;
    const load = async (request: { webhookId: string; refresh: boolean }) => {
      const secret = await this.#lookUp({ tenant: name, ...request });
      const isStranger = isNone(secret);
      source.mismatch = isStranger ? 'There is no secret for this tenant.' : undefined;
      if (isStranger) return this.#keysOfNobody();
      this.#strangers.delete(name);
      this.#tenants.set(name, source);
      return keysOf(secret);
    };
    // Until it is known, it is tried as a stranger: both then take the way of a forgery.
    const source = new CachedKeys(load, this.#log, name, this.#keysOfNobody());
    this.#strangers.set(name, source);
    return source;
  }

  async #lookUp(request: Parameters<SecretProvider>[0]): Promise<ProvidedSecret> {
    if (this.#lookups >= MAX_LOOKUPS) {
      if (!this.#tenants.has(request.tenant)) return undefined; // as if it were a stranger
      throw new WebhookError('secret-unavailable', 'Too many tenants are being looked up.');
    }
    this.#lookups += 1;
    try {
      return await askInTime(this.#provider, request, this.#deadlines);
    } catch (error) {
      if (this.#reports.pass() !== undefined) throw error;
      throw redactedError('secret-unavailable', 'The secret provider failed: ', error);
    } finally {
      this.#lookups -= 1;
    }
  }

  /** A random key, that nobody has. Not at import: Workers allow no random values there. */
  #keysOfNobody(): readonly Key[] {
    this.#nobody ??= [
      { id: 'nobody', hmac: prepareKey(crypto.getRandomValues(new Uint8Array(32))) },
    ];
    return this.#nobody;
  }
}

const isNone = (secret: unknown): boolean =>
  secret === undefined || secret === null || (Array.isArray(secret) && secret.every(isNone));
