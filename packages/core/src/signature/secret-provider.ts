import { LRUCache } from 'lru-cache';
import { prepareKey } from '#platform';
import { docsUrl, WebhookError, withOrigin } from '../errors.ts';
import { type HeadersLike, RequestView, type TenantRequest } from '../http/request.ts';
import { describeError, loggedFailure, redactedError } from '../report/error-text.ts';
import { discard } from '../report/hooks.ts';
import { LineLimit, type Logger } from '../report/logger.ts';
import type { Redact } from '../report/redact.ts';
import { isTenantName } from '../store/keys.ts';
import type { Deadlines } from '../time.ts';
import {
  generateSecret,
  keysOf,
  LastVerified,
  type Key,
  type KeySource,
  type Secret,
} from './secrets.ts';

/** The argument of a secret provider. */
export interface SecretRequest {
  /**
   * The tenant whose secrets are wanted. Anyone can send any name. It is absent without the option
   * `tenant`.
   */
  tenant: string;
  /** The webhook id of the delivery. It is not verified yet, so use it only for logging. */
  webhookId: string;
  /** `true` if the cached secrets are out of date, or if none of them matched. */
  refresh: boolean;
}

/**
 * The secrets that a provider returns. `undefined`, `null` and an empty list mean that the tenant does
 * not exist.
 */
export type ProvidedSecret = Secret | null | undefined;

/**
 * Returns the secrets that are valid now, for example from a secrets manager. The result is cached for
 * five minutes, for each tenant if there are tenants. If no cached secret matches a delivery, the
 * provider is called again with `refresh: true`, at most every 5 s, so that a rotation needs no
 * restart. A call that throws, or takes longer than 4 s, has failed. Cached secrets then remain in use,
 * however old they are, and a warning is logged; while no secrets are cached, deliveries are answered
 * with 503 `secret-unavailable`.
 * @example
 * secret: async () => parseSecretFile(await readFile('/run/secrets/webhooks', 'utf8'))
 */
export type SecretProvider = (request: SecretRequest) => ProvidedSecret | Promise<ProvidedSecret>;

/** A provider is called again this long after its last good answer; milliseconds. */
const MAX_AGE_MS = 300_000;
/** Forged requests cannot make us call a provider more often than this; milliseconds. */
const MIN_REFRESH_INTERVAL_MS = 5_000;
/** A provider that failed is not called again for this long; milliseconds. */
const RETRY_AFTER_MS = 1_000;
/** A provider that takes longer has failed; milliseconds. */
const PROVIDER_TIMEOUT_MS = 4_000;

/** Where log lines of a cache go. */
interface SecretLog {
  readonly logger: Logger;
  readonly redact?: Redact | undefined;
}

type LoadKeys = (request: { webhookId: string; refresh: boolean }) => Promise<readonly Key[]>;

/** The keys of a provider without tenants. */
export function providedKeys(
  provider: SecretProvider,
  deadlines: Deadlines,
  log: SecretLog,
): KeySource {
  // Without tenants, the request names none.
  return new CachedKeys(
    async (request) => keysOf(await askInTime(provider, request as SecretRequest, deadlines)),
    deadlines,
    log,
  );
}

/** Rejects if the provider fails, or does not answer in time. */
const askInTime = (
  provider: SecretProvider,
  request: SecretRequest,
  deadlines: Deadlines,
): Promise<ProvidedSecret> =>
  deadlines.withTimeout(PROVIDER_TIMEOUT_MS, (async () => provider(request))());

/** The keys that a provider returned. Deliveries that arrive together share one call. */
class CachedKeys implements KeySource {
  mismatch: string | undefined;
  readonly verified = new LastVerified();
  readonly #load: LoadKeys;
  readonly #deadlines: Deadlines;
  readonly #log: SecretLog;
  readonly #tenant: string | undefined;
  #keys: readonly Key[] | undefined;
  #loadedAt: number | undefined;
  #refreshedAt = -Infinity;
  #failure: { at: number; error: WebhookError } | undefined;
  #loading: Promise<readonly Key[]> | undefined;

  /**
   * @param tenant for log lines
   * @param first the keys that are tried before the provider has been asked
   */
  constructor(
    load: LoadKeys,
    deadlines: Deadlines,
    log: SecretLog,
    tenant?: string,
    first?: readonly Key[],
  ) {
    this.#load = load;
    this.#deadlines = deadlines;
    this.#log = log;
    this.#tenant = tenant;
    this.#keys = first;
  }

  async current(webhookId: string): Promise<readonly Key[]> {
    const old = this.#keys;
    if (!old) {
      this.#throwRecentFailure();
      return this.#ask(webhookId);
    }
    if (performance.now() - (this.#loadedAt ?? Infinity) < MAX_AGE_MS) return old;
    try {
      return await this.#ask(webhookId);
    } catch (error) {
      // Working keys stay in use while the secrets manager is down.
      this.#loadedAt = performance.now();
      this.#warn(error as WebhookError);
      return old;
    }
  }

  async refresh(webhookId: string, tried: readonly Key[]): Promise<readonly Key[] | undefined> {
    if (this.#loading) return this.#ask(webhookId);
    if (this.#keys !== tried) return this.#keys;
    this.#throwRecentFailure();
    const isEarly = performance.now() - this.#refreshedAt < MIN_REFRESH_INTERVAL_MS;
    if (isEarly && !this.#failure) return undefined;
    this.#refreshedAt = performance.now();
    return this.#ask(webhookId);
  }

  #throwRecentFailure(): void {
    if (this.#failure && performance.now() - this.#failure.at < RETRY_AFTER_MS)
      throw this.#failure.error;
  }

  /**
   * Asks the provider, or waits for the answer to an earlier delivery. That delivery may have been
   * cancelled together with its timers, as on Workers, so the wait has its own limit.
   */
  async #ask(webhookId: string): Promise<readonly Key[]> {
    const earlier = this.#loading;
    if (earlier) {
      try {
        return await this.#deadlines.withTimeout(PROVIDER_TIMEOUT_MS, earlier);
      } catch (error) {
        if (this.#loading === earlier) this.#loading = undefined;
        throw providerFailed(error);
      }
    }
    const loading = this.#call(webhookId).finally(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  async #call(webhookId: string): Promise<readonly Key[]> {
    try {
      this.#keys = await this.#load({ webhookId, refresh: this.#loadedAt !== undefined });
      this.#loadedAt = performance.now();
      this.#failure = undefined;
      return this.#keys;
    } catch (thrown) {
      const error = providerFailed(thrown);
      // What follows within a second is not reported again.
      const { code, message } = error;
      this.#failure = { at: performance.now(), error: new WebhookError(code, message) };
      throw error;
    }
  }

  #warn(error: WebhookError): void {
    if (this.mismatch !== undefined) return; // an unknown tenant, which has no secrets in use
    const { logger, redact } = this.#log;
    const { message, ...fields } = loggedFailure(error, redact);
    logger.warn(
      {
        ...(this.#tenant !== undefined && { tenant: this.#tenant }),
        ...fields,
        docs: docsUrl('outcomes.md#secret-unavailable'),
      },
      `call-webhooks: ${message.replace(/\.?$/, '.')} The cached secrets remain in use.`,
    );
  }
}

function providerFailed(thrown: unknown): WebhookError {
  if (thrown instanceof WebhookError && thrown.code === 'secret-unavailable') return thrown;
  const message = `The secret provider failed: ${describeError(thrown)}`;
  const failure = new WebhookError('secret-unavailable', message);
  return withOrigin(failure, { source: 'secret', error: thrown });
}

/**
 * Names the tenant of a request, from its path, host or headers. It is called for every request, before
 * anything is verified, and must return at once.
 *
 * `undefined`, `null` and a string that cannot be a name (1 to 128 printable characters) mean that
 * there is no such tenant, and the request is answered with 401, like a forgery. If the function throws
 * or returns anything else, the response is 503 `secret-unavailable`.
 * @example
 * tenant: ({ path }) => path.split('/')[2] // of /hooks/acme
 */
export type TenantOf = (request: TenantRequest) => string | null | undefined;

/** How many tenants with secrets are known; about 1 kB each. */
const MAX_TENANTS = 20_000;
/** How many names without secrets are known: any client can send them, so they have their own cache. */
const MAX_STRANGERS = 2_000;
/** How many names are looked up at the same time. */
const MAX_LOOKUPS = 1_000;

/** Who a request is for, and the keys to verify it with. */
export interface RequestKeys {
  readonly tenant?: string | undefined;
  readonly keySource: KeySource;
}

/**
 * Names the tenant of each request, and caches the keys of each. A name without a secret is treated as
 * a tenant whose secret is unknown: the same work is done for it, with the same answer.
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
          mismatch: 'The request names no tenant, or a name that no tenant can have.',
        },
      };
    discard(name);
    return this.#failed(new TypeError('It must return a string or undefined, and not a promise.'));
  }

  #failed(error: unknown): RequestKeys {
    const failure =
      this.#reports.pass() === undefined
        ? failedAgain('The option tenant')
        : withOrigin(redactedError('secret-unavailable', 'The option tenant failed: ', error), {
            source: 'hook',
            error,
          });
    const current = () => Promise.reject(failure);
    return { keySource: { current, refresh: current } };
  }

  #keysOf(name: string): KeySource {
    const known = this.#tenants.get(name) ?? this.#strangers.get(name);
    if (known) return known;
    let decoy: string | undefined;
    const load = async (request: { webhookId: string; refresh: boolean }) => {
      const secret = await this.#lookUp({ tenant: name, ...request });
      const isStranger = isNone(secret);
      source.mismatch = isStranger ? 'There is no secret for this tenant.' : undefined;
      // Prepared as a tenant's secret is, so that the time of the answer doesn't tell them apart.
      if (isStranger) return keysOf((decoy ??= generateSecret()));
      this.#strangers.delete(name);
      this.#tenants.set(name, source);
      return keysOf(secret);
    };
    // Until it is known, it is tried as a stranger: both then take the way of a forgery.
    const source = new CachedKeys(load, this.#deadlines, this.#log, name, this.#keysOfNobody());
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
      throw this.#reports.pass() === undefined ? failedAgain('The secret provider') : error;
    } finally {
      this.#lookups -= 1;
    }
  }

  /**
   * A random key that is known to no one. Not created at import: Workers allow no random values there.
   */
  #keysOfNobody(): readonly Key[] {
    this.#nobody ??= [
      { id: 'nobody', hmac: prepareKey(crypto.getRandomValues(new Uint8Array(32))) },
    ];
    return this.#nobody;
  }
}

/** Not reported: describing each failure of a flood would take longer than everything else. */
const failedAgain = (who: string) =>
  new WebhookError('secret-unavailable', `${who} failed again. The log has an earlier failure.`);

const isNone = (secret: unknown): boolean =>
  secret === undefined || secret === null || (Array.isArray(secret) && secret.every(isNone));
