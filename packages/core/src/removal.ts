/** One small batch of a removal. */
export interface RemovalTurn {
  /** Letters and jobs whose last failure was before this time have expired. */
  readonly before: Date;
  /** The maximum number to remove. */
  readonly limit: number;
  /** The process that removes. Its turn lasts until `leaseMs` milliseconds have passed without a call. */
  readonly token: string;
  /** Milliseconds. */
  readonly leaseMs: number;
}

/** What keeps dead letters or dead jobs for a limited time. */
export interface ExpiringLetters {
  /**
   * How long a dead letter or a dead job is kept after its last failure, in milliseconds. Absent if it
   * is kept until it is removed by hand.
   */
  readonly keepFor?: number | undefined;
  /**
   * Removes some of the letters or jobs whose last failure was before a time, oldest failure first. A
   * letter that a redrive has claimed is kept. Only one process removes at a time.
   * @returns how many were removed, or `undefined` while it is the turn of another process
   */
  removeExpired?(turn: RemovalTurn): Promise<number | undefined>;
}
