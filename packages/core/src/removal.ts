/** One small batch of a removal. */
export interface RemovalTurn {
  /** What failed last before this time has expired. */
  readonly before: Date;
  /** How many are removed at most. */
  readonly limit: number;
  /** The process that removes. Its turn lasts until `leaseMs` milliseconds have passed without a call. */
  readonly token: string;
  /** Milliseconds. */
  readonly leaseMs: number;
}

/** What keeps dead letters or dead jobs for a limited time. */
export interface ExpiringLetters {
  /**
   * How long a dead letter or a dead job is kept after its last failure, in milliseconds. Absent if it is kept
   * until somebody removes it.
   */
  readonly keepFor?: number | undefined;
  /**
   * Removes some of those that failed last before a time, those that failed longest ago first. One that a
   * redrive has claimed is left. One process removes at a time.
   * @returns how many were removed, or `undefined` while it is the turn of another process
   */
  removeExpired?(turn: RemovalTurn): Promise<number | undefined>;
}
