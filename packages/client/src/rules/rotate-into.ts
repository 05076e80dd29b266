import { sleep } from '../clock.ts';
import { AmbiguousSecretError, ConfigurationError, SecretNotSavedError } from '../errors/index.ts';
import { createRedactor, safeCause } from '../http/redact.ts';
import { backoff } from '../http/retry.ts';
import type { Settings } from '../settings.ts';
import type { SecretResponse } from './secret-response.ts';
import { liveSecrets, runExclusive, type SecretStore, type StoredSecret } from './secret-store.ts';

/** The options of `rotateInto`. */
export interface RotateIntoOptions {
  readonly ruleId: string;
  readonly actionId: string;
  /**
   * How long the old secret of this action is still accepted, in milliseconds. Defaults to 600,000 (10 minutes):
   * with the tolerance of 5 minutes either way, no older signature verifies after that.
   */
  readonly overlap?: number | undefined;
  /** Aborts the request. Once the secret is rotated it is saved, even after an abort. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of `rotateInto`. */
export interface RotatedSecret {
  /** The new secret, as it was saved. */
  readonly current: StoredSecret;
  /**
   * All secrets that were saved: the new one first, then those from before. Older ones of the same
   * action have an `expiresAt`; those of other actions, and those without an `actionId`, are unchanged.
   */
  readonly saved: readonly StoredSecret[];
  /** The whole response of the service. It holds the secret. */
  readonly response: unknown;
}

/** Rotates the secret of an action, given the secrets from before. */
export type Rotate = (
  action: Pick<RotateIntoOptions, 'ruleId' | 'actionId' | 'signal'>,
  known: ReadonlySet<string>,
) => Promise<SecretResponse>;

const defaultOverlap = 600_000;
const saveAttempts = 3;

/**
 * Rotates and saves, one rotation of a store at a time. The store is read and written once before
 * the rotation, so that a broken store fails the call while nothing is lost.
 *
 * The new secret exists only in the response, so a process that dies before it is saved loses it.
 * The store then still has what it had, and rotating again gives a secret that is known.
 */
export function rotateInto(
  settings: Settings,
  rotate: Rotate,
  store: SecretStore,
  options: RotateIntoOptions,
): Promise<RotatedSecret> {
  const { actionId, signal, overlap = defaultOverlap } = options;
  if (!Number.isFinite(overlap) || overlap < 0) {
    throw new ConfigurationError('overlap must be a number of milliseconds, 0 or more');
  }
  return runExclusive(store, async () => {
    signal?.throwIfAborted();
    const old = await store.load();
    await store.save(old);
    const combine = (fresh: readonly string[]): StoredSecret[] =>
      withNewSecrets(fresh, old, { actionId, overlap, now: settings.clock.now() });
    const known = new Set(old.map(({ secret }) => secret));
    const { secret, response } = await rotate(options, known).catch(async (error: unknown) => {
      if (!(error instanceof AmbiguousSecretError)) throw error;
      // One of them signs from now on. All are accepted until somebody chooses.
      await save(settings, store, combine(error.choices.map((choice) => choice.secret)));
      throw new AmbiguousSecretError(error.operation, error.choices, {
        response: error.response,
        note: '. All of them were saved, so that deliveries verify: remove the others from the store',
      });
    });
    const saved = combine([secret]);
    await save(settings, store, saved);
    return { current: saved[0] as StoredSecret, saved, response };
  });
}

function withNewSecrets(
  fresh: readonly string[],
  old: readonly StoredSecret[],
  rotation: { readonly actionId: string; readonly overlap: number; readonly now: number },
): StoredSecret[] {
  const { actionId, overlap, now } = rotation;
  const saved: StoredSecret[] = [];
  for (const secret of new Set(fresh)) {
    saved.push({ id: unusedId(actionId, now, [...old, ...saved]), secret, actionId });
  }
  for (const entry of liveSecrets(old, now)) {
    if (fresh.includes(entry.secret)) continue;
    const expiresAt = Math.min(entry.expiresAt ?? Infinity, now + overlap);
    saved.push(entry.actionId === actionId ? { ...entry, expiresAt } : entry);
  }
  return saved;
}

function unusedId(actionId: string, now: number, taken: readonly StoredSecret[]): string {
  const base = `${actionId}@${new Date(now).toISOString()}`;
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.some((entry) => entry.id === id)) return id;
  }
}

async function save(
  settings: Settings,
  store: SecretStore,
  secrets: readonly StoredSecret[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await store.save(secrets);
      return;
    } catch (error) {
      if (attempt < saveAttempts) {
        await sleep(settings.clock, backoff(settings, attempt));
        continue;
      }
      // Stores tend to quote what they could not write.
      const redactor = createRedactor(secrets.map(({ secret }) => secret));
      throw new SecretNotSavedError<StoredSecret>({
        secret: secrets[0]?.secret ?? '',
        secrets,
        save: () => store.save(secrets),
        cause: safeCause(error, redactor),
      });
    }
  }
}
