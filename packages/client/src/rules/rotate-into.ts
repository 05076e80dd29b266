import { sleep } from '../clock.ts';
import { ConfigurationError, SecretNotSavedError } from '../errors/index.ts';
import { createRedactor } from '../http/redact.ts';
import { backoff } from '../http/retry.ts';
import { safeCause } from '../http/safe-cause.ts';
import type { Settings } from '../settings.ts';
import type { SecretAnswer } from './confirm-write.ts';
import { inTurn } from './in-turn.ts';
import { liveSecrets, type SecretStore, type StoredSecret } from './secret-store.ts';

/** Which action to rotate, and for how long its old secret stays valid. */
export interface RotateIntoOptions {
  readonly ruleId: string;
  readonly actionId: string;
  /**
   * How long the old secret is accepted after the rotation, in milliseconds. Default 600 000 (10
   * minutes): with the tolerance of 5 minutes either way, no signature verifies for longer.
   */
  readonly overlap?: number | undefined;
  /** Ends the request. Once the secret is rotated it is saved, whatever the signal says. */
  readonly signal?: AbortSignal | undefined;
}

/** What `rotateInto` has done. */
export interface RotatedSecret {
  /** The new secret, as it was saved. */
  readonly current: StoredSecret;
  /** Everything that was saved: the new secret first, then the old ones with their `expiresAt`. */
  readonly saved: readonly StoredSecret[];
  /** The whole answer of the service. It holds the secret. */
  readonly response: unknown;
}

const defaultOverlap = 600_000;
const saveTries = 3;

function freeId(actionId: string, now: number, taken: readonly StoredSecret[]): string {
  const base = `${actionId}@${new Date(now).toISOString()}`;
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.some((entry) => entry.id === id)) return id;
  }
}

// An answer may repeat the old secret; whatever is not in the store yet may be the new one.
function combine(
  answer: SecretAnswer,
  old: readonly StoredSecret[],
  actionId: string,
  now: number,
  overlap: number,
): StoredSecret[] {
  const unknown = answer.secrets.filter((secret) => !old.some((entry) => entry.secret === secret));
  const fresh = unknown.length > 0 ? unknown : [answer.secret];
  const saved: StoredSecret[] = [];
  for (const secret of fresh) {
    saved.push({ id: freeId(actionId, now, [...old, ...saved]), secret });
  }
  for (const entry of liveSecrets(old, now)) {
    if (fresh.includes(entry.secret)) continue;
    const expiresAt = Math.min(entry.expiresAt ?? Infinity, now + overlap);
    saved.push({ ...entry, expiresAt });
  }
  return saved;
}

async function saveOrExplain(
  settings: Settings,
  store: SecretStore,
  secrets: readonly StoredSecret[],
): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await store.save(secrets);
      return;
    } catch (error) {
      if (tried < saveTries) {
        await sleep(settings.clock, backoff(settings, tried));
        continue;
      }
      // Stores like to quote what they could not write.
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

/**
 * Rotates and saves, one rotation of a store at a time. The store is read and written once before,
 * so that one that is down stops the rotation rather than losing its secret.
 */
export function rotateInto(
  settings: Settings,
  rotate: (ruleId: string, actionId: string, signal?: AbortSignal) => Promise<SecretAnswer>,
  store: SecretStore,
  options: RotateIntoOptions,
): Promise<RotatedSecret> {
  const { ruleId, actionId, signal, overlap = defaultOverlap } = options;
  if (!Number.isFinite(overlap) || overlap < 0) {
    throw new ConfigurationError('overlap must be a number of milliseconds, 0 or more');
  }
  return inTurn(store, async () => {
    signal?.throwIfAborted();
    const old = await store.load();
    await store.save(old);
    const answer = await rotate(ruleId, actionId, signal);
    const saved = combine(answer, old, actionId, settings.clock.now(), overlap);
    await saveOrExplain(settings, store, saved);
    return { current: saved[0] as StoredSecret, saved, response: answer.response };
  });
}
