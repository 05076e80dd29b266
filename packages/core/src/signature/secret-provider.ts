import { docsUrl, WebhookError } from '../outcome/webhook-error.ts';
import { withOrigin } from '../outcome/origin.ts';
import { describeError } from '../redact/error-text.ts';
import type { Redact } from '../redact/redactor.ts';
import { loggedFailure } from '../reporting/logged-error.ts';
import type { Logger } from '../reporting/logger.ts';
import type { DeadlineScheduler } from '../time/deadline-scheduler.ts';
import { fixedKeys, keysOf, type Key, type KeySource, type Secret } from './secrets.ts';

/**
 * Returns the valid secrets, for instance from a secrets manager. The result is cached for five
 * minutes. When no cached secret matches a delivery, the provider is called again with
 * `refresh: true`, so a rotation needs no restart.
 */
export type SecretProvider = (request: {
  /** Not verified yet: use it only for logging. */
  webhookId: string;
  /** `true` if the cached secrets are out of date or matched nothing. */
  refresh: boolean;
}) => Secret | Promise<Secret>;

/** A provider is called again this long after its last good answer; milliseconds. */
const MAX_AGE_MS = 300_000;
/** Forged requests cannot make us call a provider more often than this; milliseconds. */
const MIN_REFRESH_INTERVAL_MS = 5_000;
/** A provider that failed is not called again for this long; milliseconds. */
const RETRY_AFTER_MS = 1_000;
/** A provider that takes longer has failed; milliseconds. */
const PROVIDER_TIMEOUT_MS = 4_000;

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
      const answer = (async () => provider({ webhookId, refresh }))();
      cached = keysOf(await scheduler.withTimeout(PROVIDER_TIMEOUT_MS, answer));
      loadedAt = performance.now();
      failure = undefined;
      return cached;
    } catch (cause) {
      const message = `The secret provider failed: ${describeError(cause)}`;
      const error = withOrigin(new WebhookError('secret-unavailable', message), {
        source: 'secret',
        error: cause,
      });
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
        const { message, ...fields } = loggedFailure(error as WebhookError, redact);
        logger.warn(
          { ...fields, docs: docsUrl('outcomes.md#secret-unavailable') },
          `call-webhooks: ${message.replace(/\.?$/, '.')} The cached secrets remain in use.`,
        );
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
