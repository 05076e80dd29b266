/** One signing secret that a receiver accepts. */
export interface StoredSecret {
  /** Names the secret in outcomes and logs; it tells nothing about it. */
  readonly id: string;
  /** `whsec_…` */
  readonly secret: string;
  /** From when on it is no longer accepted, in epoch milliseconds; absent while it is current. */
  readonly expiresAt?: number;
}

/**
 * Where the secrets of one webhook action are kept: a file, a table, a secret manager. Put the
 * current secret in before the first rotation, or deliveries in flight cannot be verified.
 */
export interface SecretStore {
  /** Returns what was saved last; an empty list at first. */
  load(): Promise<readonly StoredSecret[]>;
  /**
   * Replaces everything. A rotation saves what it loaded once before it rotates, to learn while
   * nothing is lost whether the store can be written.
   */
  save(secrets: readonly StoredSecret[]): Promise<void>;
}

/** Those of the secrets that are accepted at `now` (epoch milliseconds). Never throws. */
export function liveSecrets(secrets: readonly StoredSecret[], now: number): StoredSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
}
