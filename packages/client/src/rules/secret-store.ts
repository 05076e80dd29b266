/** One signing secret that a receiver accepts. */
export interface StoredSecret {
  /** Names the secret in outcomes and logs. It reveals nothing about the secret. */
  readonly id: string;
  /** `whsec_…` */
  readonly secret: string;
  /**
   * The action that signs with it: rotating an action ends only secrets that name it. Absent for the
   * recording webhook, and where nobody knows.
   */
  readonly actionId?: string;
  /** From when on the secret is no longer accepted, in epoch milliseconds. Absent while it is current. */
  readonly expiresAt?: number;
}

/**
 * Where the secrets of a receiver are kept, those of all its webhook actions: a file, a table, a secret
 * manager. Save each current secret with its `actionId` before the first rotation: without it, deliveries
 * in flight cannot be verified, and without the `actionId` the old secret never ends.
 */
export interface SecretStore {
  /** Returns what was saved last. Returns an empty list at first. */
  load(): Promise<readonly StoredSecret[]>;
  /**
   * Replaces all secrets, atomically: after a crash `load` returns the old list or the new one. Each
   * rotation saves the loaded list once before it rotates, to find out whether the store works.
   */
  save(secrets: readonly StoredSecret[]): Promise<void>;
}

/** A secret in the form that a receiver's `secret` option takes. */
export interface ProvidedSecret {
  readonly id: string;
  readonly secret: string;
}

/** Returns the secrets that are accepted at `now` (epoch milliseconds). Never throws. */
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

const running = new WeakMap<object, Promise<unknown>>();

/** Runs one task at a time for each store. */
export function runExclusive<T>(store: object, task: () => Promise<T>): Promise<T> {
  const result = (running.get(store) ?? Promise.resolve()).then(task);
  running.set(
    store,
    result.catch(() => undefined),
  );
  return result;
}

/** Waits until no task of the store is running. */
export async function whenIdle(store: object): Promise<void> {
  let last: Promise<unknown> | undefined;
  while (running.get(store) !== last) {
    last = running.get(store);
    await last;
  }
}
