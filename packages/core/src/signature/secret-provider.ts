import { docsUrl, WebhookError, withOrigin } from '../errors.ts';
import { describeError } from '../report/error-text.ts';
import { loggedFailure } from '../report/log-line.ts';
import type { Logger } from '../report/logger.ts';
import type { Redact } from '../report/redact.ts';
import type { DeadlineScheduler } from '../time.ts';
import { fixedKeys, type Key, keysOf, type KeySource, type Secret } from './secrets.ts';

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
export const MAX_AGE_MS = 300_000;
/** Forged requests cannot make us call a provider more often than this; milliseconds. */
export const MIN_REFRESH_INTERVAL_MS = 5_000;
/** A provider that failed is not called again for this long; milliseconds. */
export const RETRY_AFTER_MS = 1_000;
/** A provider that takes longer has failed; milliseconds. */
export const PROVIDER_TIMEOUT_MS = 4_000;

/** @throws WebhookError `invalid-secret`, at once, if fixed secrets are invalid */
export function keySource(
  secret: Secret | SecretProvider,
  scheduler: DeadlineScheduler,
  logger: Logger,
  redact?: Redact,
): KeySource {
  if (typeof secret === 'function') return providerKeys(secret, scheduler, logger, redact);
  return fixedKeys(secret);
}

function providerKeys(
  provider: SecretProvider,
  scheduler: DeadlineScheduler,
  logger: Logger,
  redact: Redact | undefined,
): KeySource {
  let cached: readonly Key[] | undefined;
  let loadedAt = -Infinity;
  let refreshedAt = -Infinity;
  let failure: { at: number; error: WebhookError } | undefined;
  let loading: Promise<readonly Key[]> | undefined;

  function load(webhookId: string, refresh: boolean): Promise<readonly Key[]> {
    loading ??= callProvider(webhookId, refresh).finally(() => (loading = undefined));
    return loading;
  }

  async function callProvider(webhookId: string, refresh: boolean): Promise<readonly Key[]> {
    try {
      const request = { webhookId, refresh } as SecretRequest; // there are no tenants
      const answer = (async () => provider(request))();
      cached = keysOf(await scheduler.withTimeout(PROVIDER_TIMEOUT_MS, answer));
      loadedAt = performance.now();
      failure = undefined;
      return cached;
    } catch (cause) {
      const error = providerFailed(cause);
      failure = { at: performance.now(), error };
      throw error;
    }
  }

  return {
    keys(webhookId) {
      if (!cached) {
        const recentFailure =
          failure && performance.now() - failure.at < RETRY_AFTER_MS ? failure : undefined;
        return recentFailure ? Promise.reject(recentFailure.error) : load(webhookId, false);
      }
      if (performance.now() - loadedAt < MAX_AGE_MS) return cached;
      const old = cached;
      // Working keys stay in use while the secrets manager is down.
      return load(webhookId, true).catch((error: unknown) => {
        loadedAt = performance.now();
        warnOfOldSecrets(error as WebhookError, logger, redact);
        return old;
      });
    },
    async refresh(webhookId, tried) {
      // Deliveries that arrive together after a rotation share one call.
      if (loading) return loading;
      if (cached !== tried) return cached;
      if (performance.now() - refreshedAt < MIN_REFRESH_INTERVAL_MS) return undefined;
      refreshedAt = performance.now();
      return load(webhookId, true);
    },
  };
}

/**
 * @param cause what the provider threw
 * @param isReported whether `onError` gets it
 */
export function providerFailed(cause: unknown, isReported = true): WebhookError {
  const message = `The secret provider failed: ${describeError(cause)}`;
  const failure = new WebhookError('secret-unavailable', message);
  return isReported ? withOrigin(failure, { source: 'secret', error: cause }) : failure;
}

/** @param tenant whose secrets they are */
export function warnOfOldSecrets(
  error: WebhookError,
  logger: Logger,
  redact: Redact | undefined,
  tenant?: string,
): void {
  const { message, ...fields } = loggedFailure(error, redact);
  logger.warn(
    {
      ...(tenant !== undefined && { tenant }),
      ...fields,
      docs: docsUrl('outcomes.md#secret-unavailable'),
    },
    `call-webhooks: ${message.replace(/\.?$/, '.')} The cached secrets remain in use.`,
  );
}
