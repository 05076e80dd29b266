import { sleep } from './clock.ts';
import { ConfigurationError, type FoundSecret, UnconfirmedWriteError } from './errors.ts';
import { createRedact, safeCause } from './http/failure.ts';
import { backoff } from './http/transport.ts';
import type { Settings } from './options.ts';

/** One signing secret that a receiver accepts. */
export interface StoredSecret {
  /** The name of the secret in outcomes and log lines. It reveals nothing about the secret. */
  readonly id: string;
  /** The secret, `whsec_…`. */
  readonly secret: string;
  /**
   * The id of the action that signs with this secret. Rotating an action ends only the secrets that
   * name it. It is absent for the recording webhook, and if it is not known.
   */
  readonly actionId?: string;
  /**
   * The time from which the secret is no longer accepted, in milliseconds since the epoch. It is absent
   * while the secret is current.
   */
  readonly expiresAt?: number;
}

/**
 * Where the secrets of a receiver are kept, for all its webhook actions. Save each current secret with
 * its `actionId` before the first rotation. Without the `actionId`, the old secret is either rejected
 * at once or accepted forever.
 */
export interface SecretStore {
  /** Returns what was saved last; an empty list at first. */
  load(): Promise<readonly StoredSecret[]>;
  /**
   * Replaces all secrets, atomically: after a crash, `load` returns either the old list or the new one.
   * Before it rotates, each rotation saves the loaded list once, to find out whether the store works.
   */
  save(secrets: readonly StoredSecret[]): Promise<void>;
}

/** A secret in the form that a receiver's `secret` option takes. */
export type ProvidedSecret = Pick<StoredSecret, 'id' | 'secret'>;

/**
 * Returns the secrets that are accepted at the time `now` (milliseconds since the epoch). Never throws.
 */
export function liveSecrets(secrets: readonly StoredSecret[], now: number): StoredSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
}

/**
 * Creates the function for a receiver's `secret` option. It returns the live secrets of the store.
 * When the receiver asks again because a signature matched none of them, it first waits for a
 * running `rotateInto` of this process, so that deliveries verify during a rotation.
 *
 * @param options.now the wall clock, in epoch milliseconds. Defaults to `Date.now`.
 * @throws what `store.load` throws
 *
 * @example
 * createNodeHandler({ secret: secretsFrom(store), on: { … } });
 */
export function secretsFrom(
  store: SecretStore,
  options: { readonly now?: () => number } = {},
): (request?: { readonly refresh?: boolean }) => Promise<ProvidedSecret[]> {
  const now = options.now ?? (() => Date.now());
  return async (request) => {
    if (request?.refresh === true) await whenIdle(store);
    const secrets = liveSecrets(await store.load(), now());
    return secrets.map(({ id, secret }) => ({ id, secret }));
  };
}

/** The options of `rotateInto`. */
export interface RotateIntoOptions {
  /** The id of the rule. */
  readonly ruleId: string;
  /** The id of the webhook action whose secret is rotated. */
  readonly actionId: string;
  /**
   * How long the old secret of this action is still accepted, in milliseconds; 600,000 by default. With
   * a tolerance of 5 minutes in both directions, no older signature verifies after that time.
   */
  readonly overlap?: number | undefined;
  /** Aborts the request. If the secret was already rotated, it is saved nevertheless. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of `rotateInto`. */
export interface RotatedSecret {
  /** The new secret. */
  readonly current: StoredSecret;
  /**
   * All secrets that were saved: the new one first, then the older ones. The action's older secrets now
   * have an end.
   */
  readonly saved: readonly StoredSecret[];
  /** The whole response of the service, which contains the secret. */
  readonly response: unknown;
}

export type Rotate = (
  action: Pick<RotateIntoOptions, 'ruleId' | 'actionId' | 'signal'>,
  known: ReadonlySet<string>,
) => Promise<SecretResponse>;

const saveAttempts = 3;

/**
 * Rotates a secret and saves the new one. Rotations into the same store run one at a time. The store is
 * read and written once before the rotation, so that a broken store fails the call while nothing is
 * lost.
 *
 * The new secret exists only in the response, so a process that dies before it is saved loses it. The
 * store is then unchanged, and another rotation returns a new secret.
 */
export function rotateInto(
  settings: Settings,
  rotate: Rotate,
  store: SecretStore,
  options: RotateIntoOptions,
): Promise<RotatedSecret> {
  const { actionId, signal, overlap = 600_000 } = options;
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
    const { response, ...found } = await rotate(options, known).catch(async (error: unknown) => {
      const isUnclear = error instanceof UnconfirmedWriteError && error.code === 'secret-ambiguous';
      if (!isUnclear) throw error;
      // The service now signs with one of them. All are accepted until one is chosen.
      const { operation, secrets } = error;
      await save(settings, store, combine(secrets.map(({ secret }) => secret)), error);
      const note =
        '. All of them were saved, so that deliveries are verified. Remove the wrong ones from the store';
      throw new UnconfirmedWriteError(error.code, operation, `${error.message}${note}`, error);
    });
    const saved = combine([found.secret]);
    await save(settings, store, saved, { secrets: [found], response });
    return { current: saved[0] as StoredSecret, saved, response };
  });
}

/** The new secrets, then the earlier ones; the action's earlier secrets get an end. */
function withNewSecrets(
  fresh: readonly string[],
  old: readonly StoredSecret[],
  rotation: { readonly actionId: string; readonly overlap: number; readonly now: number },
): StoredSecret[] {
  const { actionId, overlap, now } = rotation;
  const taken = new Set(old.map(({ id }) => id));
  const current = [...new Set(fresh)].map((secret) => {
    const base = `${actionId}@${new Date(now).toISOString()}`;
    let id = base;
    for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
    taken.add(id);
    return { id, secret, actionId };
  });
  const before = liveSecrets(old, now).filter(({ secret }) => !fresh.includes(secret));
  const ended = before.map((entry) => {
    const expiresAt = Math.min(entry.expiresAt ?? Infinity, now + overlap);
    return entry.actionId === actionId ? { ...entry, expiresAt } : entry;
  });
  return [...current, ...ended];
}

async function save(
  settings: Settings,
  store: SecretStore,
  secrets: readonly StoredSecret[],
  found: { readonly secrets: readonly FoundSecret[]; readonly response: unknown },
): Promise<void> {
  const notSaved = (error: unknown) =>
    new UnconfirmedWriteError(
      'secret-not-saved',
      'rotate-signing-secret',
      'The signing secret was rotated, but the store did not save the new one. ' +
        'Call retry() on this error, or save its "secrets" (not printed) yourself, now',
      {
        secrets: found.secrets,
        response: found.response,
        retry: () => store.save(secrets),
        // Stores tend to quote what they could not write.
        cause: safeCause(error, createRedact(secrets.map(({ secret }) => secret))),
      },
    );
  for (let attempt = 1; ; attempt++) {
    try {
      await store.save(secrets);
      return;
    } catch (error) {
      if (attempt === saveAttempts) throw notSaved(error);
      await sleep(settings.clock, backoff(settings, attempt));
    }
  }
}

const running = new WeakMap<object, Promise<unknown>>();

/** Runs one task at a time for each store. */
function runExclusive<T>(store: object, task: () => Promise<T>): Promise<T> {
  const result = (running.get(store) ?? Promise.resolve()).then(task);
  running.set(
    store,
    result.catch(() => undefined),
  );
  return result;
}

/** Waits until no task of the store is running. */
async function whenIdle(store: object): Promise<void> {
  let last: Promise<unknown> | undefined;
  while (running.get(store) !== last) {
    last = running.get(store);
    await last;
  }
}

/** The response to a write that yields a signing secret. */
export interface SecretResponse {
  /** The signing secret of the action. Keep it out of logs. */
  readonly secret: string;
  /** Where it was in the response, such as `action.signingSecret`: what `wire.secretField` takes. */
  readonly path: string;
  /** The whole response: parsed if it is JSON, else as text. It holds the secret. */
  readonly response: unknown;
}
