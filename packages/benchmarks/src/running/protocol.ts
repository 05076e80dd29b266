/** What the harness asks a contender's process. */
export type Question =
  | { readonly ask: 'usage' }
  /** Verify so many messages; for contenders without a server. */
  | { readonly ask: 'verify'; readonly operations: number };

/** CPU time of the whole process, in microseconds, kernel and user together. */
export interface Reply {
  readonly cpu: number;
  /** How often the handler ran so far. */
  readonly handled: number;
}

/** The first message of a contender's process. */
export interface Ready {
  readonly port?: number;
}

export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
