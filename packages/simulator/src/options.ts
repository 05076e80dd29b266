import type { FieldNames, HeaderPrefix } from '@call-webhooks/core';
import type { Workspace } from './activity/directory.ts';
import type { ChaosSettings } from './chaos/chaos.ts';
import type { ClockMode } from './clock/clock.ts';
import type { Duration } from './clock/duration.ts';
import type { TlsOptions } from './deliveries/http-sender.ts';
import type { InspectorPage } from './http/page.ts';

/** Everything that a simulator can be told. What the spec does not show is a guess, and marked so. */
export interface SimulatorOptions {
  /** 0, the default: any free port. The simulator listens on this machine's loopback only. */
  port?: number | undefined;
  /** The page at the simulator's URL: `inspectorPage()` of `@call-webhooks/inspector`; none by default. */
  inspector?: InspectorPage | undefined;
  /** `real` by default. */
  clock?: ClockMode | undefined;
  /** Where the clock starts; milliseconds since the epoch, now by default. */
  startAt?: number | undefined;
  /** The same seed gives the same run: ids, secrets, jitter, chaos. A new one by default. */
  seed?: string | number | undefined;

  /** Until a failed attempt is made again: `'5m'` by default (spec: about every 5 minutes). */
  retryEvery?: Duration | undefined;
  /** How far from `retryEvery` a retry may be, as a part of it: 0.1 by default (guess). */
  retryJitter?: number | undefined;
  /** Attempts of a delivery, the first included: 6 by default (guess: "a limited number"). */
  maxAttempts?: number | undefined;
  /** How long a receiver has to answer: `'30s'` by default, as in the spec. */
  acknowledgeWithin?: Duration | undefined;
  /** What a paused rule does with its events: `'drop'` (default) or `'hold'` until resumed (guess). */
  whilePaused?: 'drop' | 'hold' | undefined;
  /** How often a recording is announced before `call:completed`: a probability, 0.5 by default. */
  recordingFirst?: number | undefined;

  /** `X-Service` by default. */
  headerPrefix?: HeaderPrefix | undefined;
  /** Headers besides the signature's; a `User-Agent` by default (guess). */
  extraHeaders?: Readonly<Record<string, string>> | undefined;
  /** The names of the seven fields that the spec does not show. */
  fieldNames?: FieldNames | undefined;
  /** What signatures carry: the `wall` time (default; real receivers accept it), or the `clock`'s. */
  timestamps?: 'wall' | 'clock' | undefined;
  /** The wall clock, for signatures and the rate limit; `Date.now` by default. */
  wallClock?: (() => number) | undefined;

  /** Chaos from the start. */
  chaos?: Partial<ChaosSettings> | undefined;
  /** Real milliseconds over which the chaos mode `slowBody` spreads a body; 200 by default. */
  slowBodyMs?: number | undefined;
  /** Requests in flight at once; 64 by default. */
  maxInFlight?: number | undefined;
  /** Real milliseconds that a turn of the clock waits for a receiver; 1,000 by default. */
  patience?: number | undefined;
  /** Deliveries that are kept; beyond that the oldest that are over are forgotten. 100,000 by default. */
  keepDeliveries?: number | undefined;
  /** Lets deliveries go to other machines; `false` by default. */
  allowExternal?: boolean | undefined;
  /** How certificates of https receivers are checked, `ca` for example. */
  tls?: TlsOptions | undefined;

  /** What `X-API-Token` has to hold; drawn from the seed by default. */
  apiToken?: string | undefined;
  /** 429 beyond so many REST requests in so long a time; none by default (not shown in the spec). */
  rateLimit?: { readonly requests: number; readonly every: Duration } | undefined;
  /** Results of a page: 50 by default (guess), and at most 500 when `limit` asks for more. */
  pageSize?: number | undefined;
  /** Whether `until:` includes its day; `true` by default (guess). */
  untilIncludesDay?: boolean | undefined;
  /** Users, teams, templates and sequences; a small invented workspace by default. */
  workspace?: Workspace | undefined;
  /** What `recordingUrl` begins with; the simulator's own URL by default. */
  baseUrl?: string | undefined;

  /**
   * A file that keeps the state over restarts, signing secrets included (mode 0600); in memory only
   * by default. One simulator a file. The seed goes on too, unless one is given.
   */
  db?: string | undefined;
}
