import { randomUUID } from 'node:crypto';
import type { FieldNames, HeaderPrefix } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import * as z from 'zod/mini';
import { FIELD_NAMES } from './calls/field-names.ts';
import { DEFAULT_WORKSPACE, type Workspace } from './activity/directory.ts';
import { CHAOS, type ChaosSettings } from './chaos.ts';
import { duration, type ClockMode, type Duration } from './clock/clock.ts';
import type { TlsOptions } from './events/sender.ts';
import { anyObject, checked, flag, numberFrom, text, whole } from './errors.ts';

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
   * Attempts of an event, including the first: 6 by default.
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
   * The names of the seven body fields that the spec describes by meaning only. A field whose name is
   * `undefined` is not sent. A call may have names of its own.
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
  /**
   * How many events, calls, emails, messages and activities are kept, of each kind: 100,000 by
   * default. Beyond it, the oldest ones are removed. An event that has yet to be sent, and a call that
   * goes on or waits for its recording, are kept.
   */
  keepRecords?: number | undefined;
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
}

const headerPrefix = () =>
  z.custom<HeaderPrefix>((value: unknown) => typeof value === 'string', 'a string');
const hasUsers = (workspace: unknown): boolean =>
  ((workspace as Partial<Workspace> | null)?.users?.length ?? 0) > 0;

const OPTIONS = z.strictObject({
  port: z._default(whole(0, 65_535), 0),
  clock: z._default(z.enum(['real', 'manual'], '"real" or "manual"'), 'real'),
  startAt: z.optional(whole(0)),
  seed: z.pipe(
    z._default(z.union([z.string(), z.number()], 'a string or a number'), () => randomUUID()),
    z.transform(String),
  ),
  retryEvery: z.prefault(duration(), '5m'),
  retryJitter: z._default(numberFrom(0, 1), 0.1),
  maxAttempts: z._default(whole(1, 1_000), 6),
  acknowledgeWithin: z.prefault(duration(), '30s'),
  whilePaused: z._default(z.enum(['drop', 'hold'], '"drop" or "hold"'), 'drop'),
  recordingFirst: z._default(numberFrom(0, 1), 0.5),
  headerPrefix: z._default(headerPrefix(), 'X-Service'),
  extraHeaders: z._default(z.readonly(z.record(z.string(), text())), {
    'User-Agent': 'call-webhooks-simulator',
  }),
  fieldNames: z.pipe(
    z.prefault(FIELD_NAMES, {}),
    z.transform((given) => ({ ...DEFAULT_FIELD_NAMES, ...given })),
  ),
  timestamps: z._default(z.enum(['wall', 'clock'], '"wall" or "clock"'), 'wall'),
  wallClock: z._default(
    z.custom<() => number>((value: unknown) => typeof value === 'function', 'a function'),
    () => () => Date.now(),
  ),
  chaos: z.prefault(CHAOS, {}),
  slowBodyMs: z._default(whole(0, 60_000), 200),
  maxInFlight: z._default(whole(1, 10_000), 64),
  patience: z._default(whole(1, 600_000), 1_000),
  keepRecords: z._default(whole(1), 100_000),
  allowExternal: z._default(flag(), false),
  tls: z._default(anyObject<TlsOptions>(), {}),
  apiToken: z.optional(text()),
  rateLimit: z.optional(z.strictObject({ requests: whole(1), every: duration() })),
  pageSize: z._default(whole(1, 500), 50),
  untilIncludesDay: z._default(flag(), true),
  workspace: z._default(
    z.custom<Workspace>(hasUsers, 'a workspace with at least one user'),
    DEFAULT_WORKSPACE,
  ),
  baseUrl: z.optional(text()),
});

/** The checked options, with all defaults. Durations are milliseconds. */
export type Settings = z.output<typeof OPTIONS>;

/** @throws SimulatorError `invalid-input`, naming the option */
export const settingsOf = (options: SimulatorOptions): Settings => checked(OPTIONS, options);
