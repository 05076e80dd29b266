import { describeError } from '../report/error-text.ts';
import { docsUrl, WebhookError, withOrigin } from '../errors.ts';
import { loggedFailure } from '../report/log-line.ts';
import type { Logger } from '../report/logger.ts';
import type { Redact } from '../report/redact.ts';
import type { Deadlines } from '../time.ts';
import { keysOf, type Key, type KeySource, type Secret } from './secrets.ts';

/** What a provider is asked for. */
export interface SecretRequest {
  /** Whose secrets are wanted: a name that anybody can send. Absent without the option `tenant`. */
  tenant: string;
  /** Not verified yet: use it only for logging. */
  webhookId: string;
  /** `true` if the cached secrets are out of date or matched nothing. */
  refresh: boolean;
}

/** Secrets, or nothing (also an empty list) for a tenant that does not exist. */
export type ProvidedSecret = Secret | null | undefined;

/**
 * Returns the valid secrets, for instance from a secrets manager. The result is cached for five
 * minutes; with the option `tenant`, for each tenant. When no cached secret matches a delivery, the
 * provider is called again with `refresh: true`, so a rotation needs no restart.
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
export interface SecretLog {
  readonly logger: Logger;
  readonly redact: Redact | undefined;
}

/** Asks for keys. */
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
    log,
  );
}

/** Rejects if the provider fails, or does not answer in time. */
export const askInTime = (
  provider: SecretProvider,
  request: SecretRequest,
  deadlines: Deadlines,
): Promise<ProvidedSecret> =>
  deadlines.withTimeout(PROVIDER_TIMEOUT_MS, (async () => provider(request))());

/** The keys that a provider returned. Deliveries that arrive together share one call. */
export class CachedKeys implements KeySource {
  mismatch: string | undefined;
  hasVerified = false;
  readonly #load: LoadKeys;
  readonly #log: SecretLog;
  readonly #tenant: string | undefined;
  #keys: readonly Key[] | undefined;
  #loadedAt: number | undefined;
  #refreshedAt = -Infinity;
  #failure: { at: number; error: WebhookError } | undefined;
  #loading: Promise<readonly Key[]> | undefined;

  /**
   * @param tenant for log lines
   * @param first what is tried before the provider was asked
   */
  constructor(load: LoadKeys, log: SecretLog, tenant?: string, first?: readonly Key[]) {
    this.#load = load;
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
    if (this.#loading) return this.#loading;
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

  #ask(webhookId: string): Promise<readonly Key[]> {
    this.#loading ??= this.#call(webhookId).finally(() => (this.#loading = undefined));
    return this.#loading;
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
