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
 * The options of `startSimulator`. All have defaults. Durations are milliseconds, or strings such as
 * `'30s'`. `@guess` names a row of the list of guesses in docs/wire-contract.md: behavior that the spec
 * does not show.
 */
export interface SimulatorOptions {
  /** The port on the loopback interface: 0 to 65,535, by default 0, which means any free port. */
  port?: number | undefined;
  /**
   * `'real'` (the default): time passes by itself, and can be advanced as well. `'manual'`: time
   * advances only when you advance it.
   */
  clock?: ClockMode | undefined;
  /**
   * The time of the simulator's clock at the start, in whole milliseconds since the epoch; now by
   * default. `clock.now()` returns the current time.
   */
  startAt?: number | undefined;
  /**
   * The seed of everything that is random. The same seed gives the same ids, secrets, jitter and chaos.
   * By default, the seed is random.
   */
  seed?: string | number | undefined;

  /** The time until a retry; `'5m'` by default (spec, "Errors": about every five minutes). */
  retryEvery?: Duration | undefined;
  /**
   * The largest deviation of a retry, as a fraction of `retryEvery`: 0 to 1, by default 0.1.
   * @guess Exact retry interval
   */
  retryJitter?: number | undefined;
  /**
   * The maximum number of attempts to deliver an event, including the first: 1 to 1,000, by default 6.
   * If the last one fails, the rule is paused.
   * @guess Number of retries
   */
  maxAttempts?: number | undefined;
  /** The time that a receiver has to respond; `'30s'` by default, as in the spec. */
  acknowledgeWithin?: Duration | undefined;
  /**
   * What happens to the events of a paused rule: `'drop'` (the default), or `'hold'` until the rule is
   * resumed.
   * @guess What happens to the events of a paused rule, and how it resumes
   */
  whilePaused?: 'drop' | 'hold' | undefined;
  /**
   * The probability that `call:recording-available` is sent before `call:completed`: 0 to 1, by default
   * 0.5.
   * @guess How often a recording arrives before `call:completed`
   */
  recordingFirst?: number | undefined;

  /** The prefix of the three signature headers; `'X-Service'` by default. */
  headerPrefix?: HeaderPrefix | undefined;
  /**
   * Headers that are sent besides the signature headers; by default, a `User-Agent`.
   * @guess Content type and further headers
   */
  extraHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * The names of the seven body fields that the spec describes by meaning only. Names that are left out
   * keep their defaults, which are those of a receiver. A field whose name is `undefined` is not sent.
   * Each call may have its own names.
   * @guess Names of seven fields, and the fields of `fromPhoneNumber`
   */
  fieldNames?: FieldNames | undefined;
  /**
   * The time in signatures: `'wall'` (the default), the time of `wallClock`, which real receivers
   * accept; or `'clock'`, the time of the simulator's clock.
   */
  timestamps?: 'wall' | 'clock' | undefined;
  /**
   * The wall clock, for signatures and for the rate limit, in milliseconds since the epoch; `Date.now`
   * by default.
   */
  wallClock?: (() => number) | undefined;

  /** The chaos modes that are on from the start, with their probabilities; none by default. */
  chaos?: Partial<ChaosSettings> | undefined;
  /**
   * The time over which the chaos mode `slowBody` spreads a body, in real milliseconds: 0 to 60,000, by
   * default 200.
   */
  slowBodyMs?: number | undefined;
  /** The maximum number of requests to receivers at the same time: 1 to 10,000, by default 64. */
  maxInFlight?: number | undefined;
  /**
   * How long the clock waits for a receiver before it advances, in real milliseconds: 1 to 600,000, by
   * default 1,000.
   */
  patience?: number | undefined;
  /**
   * The maximum number of events, calls, emails, messages and activities that are kept, of each kind;
   * 100,000 by default. When the limit is reached, the oldest ones are removed. Events that are still
   * to be sent are kept, and so are calls that are ongoing or wait for their recording.
   */
  keepRecords?: number | undefined;
  /**
   * Whether receivers may be on other machines; `false` by default, so that only URLs of this machine
   * are accepted.
   */
  allowExternal?: boolean | undefined;
  /**
   * TLS options for https receivers (`ca`, `rejectUnauthorized`), as in `node:tls`; none by default.
   */
  tls?: TlsOptions | undefined;

  /**
   * The token that REST requests must send as `X-API-Token`; by default, it is derived from the seed.
   */
  apiToken?: string | undefined;
  /**
   * The maximum number of REST `requests` in each period `every`, beyond which the response is 429. By
   * default, there is no limit.
   */
  rateLimit?: { readonly requests: number; readonly every: Duration } | undefined;
  /**
   * The number of results on a page of the REST API: 1 to 500, by default 50. The parameter `limit` of
   * a request may ask for up to 500.
   */
  pageSize?: number | undefined;
  /**
   * Whether the search operator `until:` includes the day that it names; `true` by default.
   * @guess Searching activity events
   */
  untilIncludesDay?: boolean | undefined;
  /** The simulated workspace: users, teams, templates and sequences; `DEFAULT_WORKSPACE` by default. */
  workspace?: Workspace | undefined;
  /** The beginning of `recordingUrl`; by default, the URL of the simulator. */
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
