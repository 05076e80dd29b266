import type { OutcomeCode, DeliverySource, Health } from '@call-webhooks/core';
import { DELIVERY_SOURCES } from '@call-webhooks/core/internal';
import {
  clockAhead,
  COUNTER_SERIES,
  counterParts,
  type OutcomeLog,
  type SeenProcess,
} from '@call-webhooks/core/stores';
import type {
  AppVersion,
  Overview,
  Percentiles,
  Period,
  ProcessSeen,
  SourceCounts,
} from './api-types.ts';
import { maskedFieldName } from '@call-webhooks/recovery/internal';
import { RequestError } from './http/answer.ts';
import { percentiles, sum } from './numbers.ts';
import type { ConsoleSettings } from './options.ts';
import { RESULTS, resultOf } from './results.ts';
import { secretsOf } from './secrets.ts';
import { type StatusQuery, StatusReader } from './status.ts';
import { askStore } from './store-calls.ts';

const MINUTE = 60_000;
const TEN_MINUTES = COUNTER_SERIES.times.periodMs;
/** How far back the overview goes: 26 hours, in minutes. */
const KEPT = 26 * 60;
/** What is older rarely changes: only a process whose writes failed adds to it. */
const RECENT = 10;
const REREAD_MS = 60_000;
const HEALTH_MS = 5_000;
/** A process writes once a second while anything ends. One that wrote longer ago may have died. */
const ACTIVE_MS = 10_000;
/** No handler of a receiver runs for longer than its lease. */
const LONGEST_RUN_MS = 300_000;

type Minutes = Map<number, Readonly<Record<string, number>>>;

/** Reads what the overview shows. What it keeps is only to read less: an open page asks every 3 s. */
export class OverviewReader {
  readonly #settings: ConsoleSettings;
  readonly #status: StatusReader;
  #health: { at: number; report: Promise<Health> } | undefined;
  #whole: { at: number; minutes: Promise<Minutes> } | undefined;

  constructor(settings: ConsoleSettings) {
    this.#settings = settings;
    this.#status = new StatusReader(settings);
  }

  /** @param asked of the status; the figures are of all tenants */
  async read(asked: StatusQuery = {}): Promise<Overview> {
    const { receiver, logger, clock } = this.#settings;
    const now = clock.now();
    const [health, status] = await Promise.all([
      this.#healthAt(now),
      this.#status.read(now, asked),
    ]);
    const { log } = receiver.store;
    if (!log) return { now, status, health, log: null };
    try {
      const [minutes, times, processes, { marks }] = await askStore(logger, 'log of outcomes', () =>
        Promise.all([this.#counts(log, now), timesOf(log, now), log.processes(), log.marks()]),
      );
      const configured = health.secretIds;
      return {
        now,
        status,
        health,
        log: {
          ...logged({ minutes, times }, processes, now),
          secrets: secretsOf({ minutes, marks, configured, now }),
        },
      };
    } catch (error) {
      // The health says that the store is down, and why.
      if (error instanceof RequestError) return { now, status, health, log: null };
      throw error;
    }
  }

  /** The counters of 26 hours. */
  async #counts(log: OutcomeLog, now: number): Promise<Minutes> {
    const last = Math.floor(now / MINUTE) + 1; // another process's clock may be ahead
    if (!this.#whole || Math.abs(now - this.#whole.at) >= REREAD_MS) {
      const minutes = log.counts('minutes', last - KEPT, last);
      this.#whole = { at: now, minutes };
      minutes.catch(() => (this.#whole = undefined));
      return minutes;
    }
    const [whole, recent] = await Promise.all([
      this.#whole.minutes,
      log.counts('minutes', last - RECENT, last),
    ]);
    return new Map([...whole, ...recent]);
  }

  async #healthAt(now: number): Promise<Overview['health']> {
    const age = this.#health ? now - this.#health.at : Infinity;
    // A clock that was set back must not keep an old answer.
    if (!this.#health || age < 0 || age >= HEALTH_MS) {
      const report = this.#settings.receiver.health();
      this.#health = { at: now, report };
      report.catch(() => (this.#health = undefined));
    }
    const { at, report } = this.#health;
    const health = await report;
    // The keys of a body may be names of people.
    const unknownFields = health.unknownFields?.map(({ fields, ...unknown }) => ({
      ...unknown,
      fields: fields.map(maskedFieldName),
    }));
    return { ...health, ...(unknownFields && { unknownFields }), checkedAt: at };
  }
}

/** The durations of 26 hours, by ten minutes. */
function timesOf(log: OutcomeLog, now: number): Promise<Minutes> {
  const last = Math.floor(now / TEN_MINUTES) + 1;
  return log.counts('times', last - KEPT / 10, last);
}

/** Counters by minute, and durations by ten minutes. */
interface Counters {
  readonly minutes: Minutes;
  readonly times: Minutes;
}

function logged(
  counters: Counters,
  processes: readonly SeenProcess[],
  now: number,
): Omit<NonNullable<Overview['log']>, 'secrets'> {
  const last = Math.floor(now / MINUTE);
  const { minutes } = counters;
  return {
    hour: periodOf(counters, last, 60, 1),
    day: periodOf(counters, last, KEPT / 10, 10),
    processes: processes
      .map((one) => seenProcess(one, now))
      .sort((one, other) => other.seenAt - one.seenAt),
    versions: versionsOf(processes),
    rowsDropped: sum([...minutes.values()].map(({ rowsDropped = 0 }) => rowsDropped)),
  };
}

/** @param last the minute that is not over yet */
function periodOf(
  { minutes, times }: Counters,
  last: number,
  length: number,
  step: number,
): Period {
  const first = (Math.floor(last / step) - length + 1) * step;
  const stretch = (from: number, to: number) =>
    [...minutes].flatMap(([minute, counts]) => (minute >= from && minute < to ? [counts] : []));
  const points = Array.from({ length }, (_, index) => {
    const from = first + index * step;
    return { at: from * MINUTE, ...sourceOf(stretch(from, from + step), 'webhook').results };
  });
  const all = stretch(first, last + 2);
  const tens = [...times].flatMap(([ten, counts]) =>
    (ten + 1) * TEN_MINUTES > first * MINUTE ? [counts] : [],
  );
  const sources: Period['sources'] = {};
  for (const source of DELIVERY_SOURCES) {
    const counted = sourceOf(all, source);
    if (counted.total > 0) sources[source] = counted;
  }
  return {
    step: step * MINUTE,
    points,
    sources,
    late: sum(all.flatMap((counts) => entriesOf(counts, 'late/').map(([, count]) => count))),
    handlerMs: durations(tens, 'handlerMs/'),
    lagMs: durations(tens, 'lagMs/'),
  };
}

type Counts = readonly Readonly<Record<string, number>>[];

/** What the outcomes of one source came to. */
export function sourceOf(counts: Counts, source: DeliverySource): SourceCounts {
  const results = Object.fromEntries(RESULTS.map((one) => [one, 0])) as SourceCounts['results'];
  const outcomes: SourceCounts['outcomes'] = {};
  let total = 0;
  for (const minute of counts)
    for (const [name, count] of entriesOf(minute, `outcome/${source}/`)) {
      const [code] = counterParts(name) as [OutcomeCode];
      outcomes[code] = (outcomes[code] ?? 0) + count;
      results[resultOf(code)] += count;
      total += count;
    }
  return { total, results, outcomes };
}

function durations(counts: Counts, prefix: string): Percentiles | null {
  const buckets = new Map<number, number>();
  for (const minute of counts)
    for (const [name, count] of entriesOf(minute, prefix)) {
      const bucket = Number(counterParts(name).at(-1));
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
    }
  return percentiles(buckets);
}

const entriesOf = (counts: Readonly<Record<string, number>>, prefix: string) =>
  Object.entries(counts).flatMap(([name, count]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), count] as const] : [],
  );

function seenProcess(process: SeenProcess, now: number): ProcessSeen {
  const { id, host, pid, version, startedAt, seenAt, at, inFlight, closed } = process;
  const ahead = clockAhead(at, seenAt);
  const silentFor = now - seenAt;
  const isLost = inFlight > 0 && silentFor > LONGEST_RUN_MS;
  const state = silentFor < ACTIVE_MS ? 'active' : isLost ? 'lost' : 'quiet';
  return {
    id,
    host,
    pid,
    ...(version !== undefined && { version }),
    startedAt,
    seenAt,
    inFlight: closed || isLost ? 0 : inFlight,
    state: closed ? 'closed' : state,
    ...(ahead !== 0 && { clockAheadMs: ahead }),
  };
}

/** When the first process of each version of the app started, by the store's clock; the newest first. */
export function versionsOf(processes: readonly SeenProcess[]): AppVersion[] {
  const versions = new Map<string, AppVersion>();
  for (const { version, startedAt, at, seenAt } of processes) {
    if (version === undefined) continue;
    const since = startedAt - clockAhead(at, seenAt);
    const known = versions.get(version) ?? { version, since, processes: 0 };
    known.since = Math.min(known.since, since);
    known.processes += 1;
    versions.set(version, known);
  }
  return [...versions.values()].sort((one, other) => other.since - one.since);
}
