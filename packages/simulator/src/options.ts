import type { FieldNames } from '@call-webhooks/core';
import type { HeaderPrefix } from '@call-webhooks/core/internal';
import type { Workspace } from './activity/directory.ts';
import type { ChaosSettings } from './chaos/chaos.ts';
import type { ClockMode } from './clock/clock.ts';
import type { Duration } from './clock/duration.ts';
import type { TlsOptions } from './deliveries/http-sender.ts';

/**
 * The options of `startSimulator`. Durations are milliseconds or strings such as `'30s'`. `@guess` names
 * a row of the list of guesses in docs/wire-contract.md: the spec does not show it.
 */
export interface SimulatorOptions {
  /** The port on loopback: 0 by default, for any free port. */
  port?: number | undefined;
  /** `'real'` by default; with `'manual'` time advances only when you advance it. */
  clock?: ClockMode | undefined;
  /** The time at the start, in milliseconds since the epoch: now by default. */
  startAt?: number | undefined;
  /** The same seed gives the same ids, secrets, jitter and chaos. Random by default. */
  seed?: string | number | undefined;

  /** The time until a retry: `'5m'` by default (spec: about every 5 minutes). */
  retryEvery?: Duration | undefined;
  /**
   * The largest deviation of a retry, as a fraction of `retryEvery`: 0.1 by default.
   * @guess Exact retry interval
   */
  retryJitter?: number | undefined;
  /**
   * Attempts of a delivery, including the first: 6 by default.
   * @guess Number of retries
   */
  maxAttempts?: number | undefined;
  /** The time a receiver has to respond: `'30s'` by default, as in the spec. */
  acknowledgeWithin?: Duration | undefined;
  /**
   * What happens to the events of a paused rule: `'drop'` (default), or `'hold'` until it is resumed.
   * @guess What happens to the events of a paused rule, and how it resumes
   */
  whilePaused?: 'drop' | 'hold' | undefined;
  /**
   * The probability that a recording comes before `call:completed`: 0.5 by default.
   * @guess How often a recording arrives before `call:completed`
   */
  recordingFirst?: number | undefined;

  /** The prefix of the three signature headers: `'X-Service'` by default. */
  headerPrefix?: HeaderPrefix | undefined;
  /**
   * Headers besides the signature headers: a `User-Agent` by default.
   * @guess Content type and further headers
   */
  extraHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * The names of the seven body fields that the spec describes by meaning only.
   * @guess Names of seven fields, and the fields of `fromPhoneNumber`
   */
  fieldNames?: FieldNames | undefined;
  /** The time in signatures: `'wall'` (default), which real receivers accept, or the `'clock'`'s. */
  timestamps?: 'wall' | 'clock' | undefined;
  /** The wall clock, for signatures and the rate limit: `Date.now` by default. */
  wallClock?: (() => number) | undefined;

  /** The chaos modes that are on from the start: none by default. */
  chaos?: Partial<ChaosSettings> | undefined;
  /** Real milliseconds over which the chaos mode `slowBody` spreads a body: 200 by default. */
  slowBodyMs?: number | undefined;
  /** The largest number of requests in flight: 64 by default. */
  maxInFlight?: number | undefined;
  /** Real milliseconds that the clock waits for a receiver before it advances: 1,000 by default. */
  patience?: number | undefined;
  /** Deliveries to keep: 100,000 by default. Beyond it, the oldest finished ones are removed. */
  keepDeliveries?: number | undefined;
  /** Allows deliveries to other machines: `false` by default. */
  allowExternal?: boolean | undefined;
  /** TLS options for https receivers: `ca`, `rejectUnauthorized`. */
  tls?: TlsOptions | undefined;

  /** The token that REST requests must send as `X-API-Token`: derived from the seed by default. */
  apiToken?: string | undefined;
  /** Responds 429 beyond this number of REST requests per `every`: no limit by default. */
  rateLimit?: { readonly requests: number; readonly every: Duration } | undefined;
  /** Results per page: 50 by default. The parameter `limit` may ask for up to 500. */
  pageSize?: number | undefined;
  /**
   * Whether `until:` includes its day: `true` by default.
   * @guess Searching activity events
   */
  untilIncludesDay?: boolean | undefined;
  /** Users, teams, templates and sequences: `DEFAULT_WORKSPACE` by default. */
  workspace?: Workspace | undefined;
  /** The beginning of `recordingUrl`: the simulator's URL by default. */
  baseUrl?: string | undefined;

  /**
   * A file that keeps the state across restarts: none by default. It holds signing secrets and has
   * mode 0600. Only one simulator can use it at a time. It also keeps the seed.
   */
  db?: string | undefined;
}
