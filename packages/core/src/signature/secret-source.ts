import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../privacy/scrub.ts';
import type { Logger } from '../reporting/logger.ts';
import type { Watch } from '../time/watch.ts';
import { keysOf, type Key, type Secret } from './key-ring.ts';

/**
 * Gives the live secrets, from a secrets manager for instance. The answer is cached. When no cached
 * secret matches a delivery it is asked again with `refresh: true`, so a rotation needs no restart.
 */
export type SecretProvider = (request: {
  /** Not yet verified: for a provider's own log, nothing more. */
  webhookId: string;
  refresh: boolean;
}) => Secret | Promise<Secret>;

/** Where the receiver gets its keys from. */
export interface SecretSource {
  keys(webhookId: string): readonly Key[] | Promise<readonly Key[]>;
  /** Newer keys than those that were `tried` in vain, or `undefined` when there can be none. */
  refresh(webhookId: string, tried: readonly Key[]): Promise<readonly Key[] | undefined>;
}

/** A provider is asked again this long after its last good answer, so a revoked secret goes away. */
const MAX_AGE_MS = 300_000;
/** Forged requests can't make us ask a provider more often than this. */
const REFRESH_EVERY_MS = 5_000;
/** A provider that failed is left alone for this long. */
const RETRY_AFTER_MS = 1_000;
/** A provider that does not answer for this long has failed. */
const PROVIDER_TIMEOUT_MS = 4_000;

/** @throws WebhookError `invalid-secret` at once, for fixed secrets that are not ones */
export function secretSource(
  secret: Secret | SecretProvider,
  watch: Watch,
  logger: Logger,
): SecretSource {
  if (typeof secret === 'function') return providerSource(secret, watch, logger);
  return fixedSecrets(secret);
}

/** Of the keys that were asked for last: `verify` asks for the same ones each time. */
let last: { keys: readonly Key[]; source: SecretSource } | undefined;

/** @throws WebhookError `invalid-secret` */
export function fixedSecrets(secret: Secret): SecretSource {
  const keys = keysOf(secret);
  if (last?.keys !== keys)
    last = { keys, source: { keys: () => keys, refresh: () => Promise.resolve(undefined) } };
  return last.source;
}

function providerSource(provider: SecretProvider, watch: Watch, logger: Logger): SecretSource {
  let cached: readonly Key[] | undefined;
  let askedAt = -Infinity;
  let refreshedAt = -Infinity;
  let failed: { at: number; error: WebhookError } | undefined;
  let asking: Promise<readonly Key[]> | undefined;

  function ask(webhookId: string, refresh: boolean): Promise<readonly Key[]> {
    asking ??= load(webhookId, refresh).finally(() => (asking = undefined));
    return asking;
  }

  async function load(webhookId: string, refresh: boolean): Promise<readonly Key[]> {
    try {
      const answer = (async () => provider({ webhookId, refresh }))();
      cached = keysOf(await watch.within(PROVIDER_TIMEOUT_MS, answer));
      askedAt = performance.now();
      failed = undefined;
      return cached;
    } catch (cause) {
      const error = new WebhookError(
        'secret-unavailable',
        `The secret provider failed: ${describeError(cause)}`,
      );
      failed = { at: performance.now(), error };
      throw error;
    }
  }

  return {
    keys(webhookId) {
      if (!cached) {
        const justFailed =
          failed && performance.now() - failed.at < RETRY_AFTER_MS ? failed : undefined;
        return justFailed ? Promise.reject(justFailed.error) : ask(webhookId, false);
      }
      if (performance.now() - askedAt < MAX_AGE_MS) return cached;
      const old = cached;
      // A secrets manager that is down must not take a receiver with it that has working keys.
      return ask(webhookId, true).catch((error: unknown) => {
        askedAt = performance.now();
        logger.warn(`call-webhooks: ${(error as Error).message} The cached secrets stay in use.`);
        return old;
      });
    },
    async refresh(webhookId, tried) {
      // Deliveries that arrive together after a rotation share one question.
      if (asking) return asking;
      if (cached !== tried) return cached;
      if (performance.now() - refreshedAt < REFRESH_EVERY_MS) return undefined;
      refreshedAt = performance.now();
      return ask(webhookId, true);
    },
  };
}
