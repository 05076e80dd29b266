/** What the harness asks the process of a contender. */
export type Question =
  | { readonly ask: 'usage' }
  /** Verify so many messages. */
  | { readonly ask: 'verify'; readonly operations: number }
  /** Let so many deliveries pass through the store. */
  | { readonly ask: 'admit'; readonly operations: number }
  /** Sign so many deliveries. */
  | { readonly ask: 'prepare'; readonly operations: number }
  /** Handle those that were signed, so many at a time. */
  | { readonly ask: 'handle'; readonly atATime: number }
  /** Run deliveries through a store or its floor: many, so many at a time, and a few one by one. */
  | {
      readonly ask: 'turn';
      readonly of: 'store' | 'floor';
      readonly many: number;
      readonly atATime: number;
      readonly few: number;
    }
  /** Measure the delay of the event loop for so long. */
  | { readonly ask: 'delays'; readonly seconds: number };

/** How late the event loop was, in milliseconds. */
export interface Delay {
  readonly p99: number;
  readonly max: number;
}

/** How long one delivery takes when it is alone; microseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export interface Reply {
  /** CPU time in microseconds, kernel and user together. */
  readonly cpu: number;
  /** What a delivery took, of many at a time; microseconds. */
  readonly wall?: number;
  readonly alone?: Latency;
  /** How often the handler of an HTTP contender ran so far. */
  readonly handled?: number;
  /** While the full store evicts, and in the same loop without a store. */
  readonly delays?: { readonly busy: Delay; readonly idle: Delay };
}

/** The first message of a process. */
export interface Ready {
  /** Where an HTTP contender listens. */
  readonly port?: number;
  /** Memory per id of the store, once it is full. */
  readonly bytesPerId?: number;
  /** Whether there are bare statements to compare a store with. */
  readonly hasFloor?: boolean;
}

export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
