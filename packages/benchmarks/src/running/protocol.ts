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

/** What the process of the memory store is asked. */
export type StoreQuestion =
  | { readonly ask: 'admit'; readonly operations: number }
  | { readonly ask: 'delays'; readonly seconds: number };

/** How late the event loop got round, in milliseconds. */
export interface Delay {
  readonly p99: number;
  readonly max: number;
}

export interface StoreReply {
  readonly cpu?: number;
  /** While the full store turns over, and in the same loop without it. */
  readonly busy?: Delay;
  readonly idle?: Delay;
}

/** The first message of a contender's process. */
export interface Ready {
  readonly port?: number;
  /** For the memory store: what it holds by then, full. */
  readonly bytesPerId?: number;
}

export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
