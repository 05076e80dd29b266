import type { SeenEvent } from './evidence.ts';
import type { Thresholds } from './thresholds.ts';

const HOUR_MS = 3_600_000;
/** A period of the series `arrivals`; milliseconds. */
export const PERIOD_MS = 600_000;

/** How often each event name of a tenant arrived in one period. */
export interface Arrivals {
  /** When the period began; milliseconds since the epoch. */
  readonly at: number;
  readonly counts: ReadonlyMap<string, number>;
}

/** A call of which one event arrived has the other one as well, at the latest some time later. */
interface Relation {
  readonly event: string;
  readonly other: string;
  /** How long before the other one the event may have come; milliseconds. */
  readonly before: number;
  /** How long after it the event may come; learned where a call has to end in between. */
  readonly after: number | 'learned';
}

const RELATIONS: readonly Relation[] = (() => {
  const [started, completed, recording] = [
    'call:started',
    'call:completed',
    'call:recording-available',
  ] as const;
  return [
    { event: completed, other: started, before: 0, after: 'learned' },
    { event: recording, other: started, before: 0, after: 'learned' },
    { event: recording, other: completed, before: HOUR_MS, after: HOUR_MS },
    { event: completed, other: recording, before: HOUR_MS, after: HOUR_MS },
    { event: started, other: completed, before: 4 * HOUR_MS, after: HOUR_MS },
    { event: started, other: recording, before: 4 * HOUR_MS, after: HOUR_MS },
  ];
})();

/** What the other events of a tenant say about one. */
export interface DueCalls {
  readonly other: string;
  /** Calls of which the event should have arrived by now. */
  readonly calls: number;
  /** How many of them are a silence. */
  readonly limit: number;
  /** Which part of the calls has the event, at most 1. */
  readonly share: number;
  /** Silences that have ended, the oldest first. */
  readonly ended: readonly EndedRun[];
  /** Set while the history is too short, so that a silence is not judged, or only after the longest wait. */
  readonly early?: EarlyHistory | undefined;
}

/** A silence that has ended: for an hour or more, enough calls lacked the event, and then it arrived again. */
export interface EndedRun {
  /** The period in which it arrived last before, and the one in which it arrived again; milliseconds since the epoch. */
  readonly lastAt: number;
  readonly nextAt: number;
  /** How many calls lacked it. */
  readonly calls: number;
}

/** What a history lacks until an event can be judged as soon as any. */
export interface EarlyHistory {
  /** In how many ten-minute periods the event arrived, and how many are needed. */
  readonly arrivals: number;
  readonly needed: number;
  /** Calls that have lacked the event for as long as a judge with enough history would wait at least. */
  readonly waiting: number;
  /** How long such a call is waited for; milliseconds. `undefined` if no call is judged so far. */
  readonly waitsFor: number | undefined;
}

/**
 * The calls of which an event should have arrived, judged by each other event of its tenant.
 * @param periods the oldest first
 * @param others the names of all events of the tenant
 * @returns none if it has no relation to an event that arrives
 */
export function dueCalls(
  periods: readonly Arrivals[],
  event: SeenEvent,
  others: readonly string[],
  judge: { now: number; thresholds: Thresholds },
): readonly DueCalls[] {
  return RELATIONS.filter(
    (relation) => relation.event === event.eventName && others.includes(relation.other),
  ).map((relation) => judgedBy(relation, periods, event, judge));
}

/** By chance, so many calls lack the event once in a thousand times. */
const CHANCE = 0.001;

function judgedBy(
  { event, other, before, after }: Relation,
  periods: readonly Arrivals[],
  { arrivedAt }: SeenEvent,
  { now, thresholds }: { now: number; thresholds: Thresholds },
): DueCalls {
  /** The most calls that lacked the event before it arrived after all, and the longest wait for it. */
  let longest = 0;
  let longestWait = 0;
  /** In how many periods it arrived, how often, and how often the other one did until then. */
  let arrivals = 0;
  let events = 0;
  let calls = 0;
  /** The periods since it arrived last in which the other one did, and how often. */
  let run: { at: number; count: number }[] = [];
  let lastAt = -Infinity;
  let lastIn = -Infinity;
  const ended: EndedRun[] = [];

  const wait = () => {
    if (after !== 'learned') return after;
    const { manyArrivals, waitMin, waitMax } = thresholds;
    if (arrivals < manyArrivals) return waitMax;
    return Math.min(waitMax, Math.max(waitMin, 2 * longestWait));
  };
  const limit = () => {
    // One standard error less: of few events, it is unknown how many calls have them.
    const seen = Math.min(1, (events + 1) / (calls + 2));
    const error = Math.sqrt((seen * (1 - seen)) / (calls + 2));
    const share = Math.min(0.9, Math.max(0.001, seen - error));
    const byChance = Math.ceil(Math.log(CHANCE) / Math.log(1 - share));
    return Math.max(thresholds.calls, 2 * longest + 1, byChance);
  };
  const dueBy = (end: number, after = wait()) =>
    run.filter(({ at }) => at >= lastAt + before && at + PERIOD_MS + after <= end);
  const countOf = (due: readonly { count: number }[]) =>
    due.reduce((sum, { count }) => sum + count, 0);

  const arrivedIn = Math.floor(arrivedAt / PERIOD_MS) * PERIOD_MS;
  for (const { at, counts } of periods) {
    const [own, others] = [counts.get(event) ?? 0, counts.get(other) ?? 0];
    if (own === 0 && at !== arrivedIn) {
      if (others > 0) run.push({ at, count: others });
      continue;
    }
    const dueThen = countOf(dueBy(at));
    // During the silence, the history went back further, so the limit may have been higher. A silence that exceeded it
    // only briefly is left out.
    if (arrivals >= thresholds.arrivals && countOf(dueBy(at - HOUR_MS)) >= limit())
      ended.push({ lastAt: lastIn, nextAt: at, calls: dueThen });
    lastIn = at;
    arrivals += 1;
    events += own;
    calls += others + countOf(run);
    // What was reported is not taken for usual at once: it raises the limits to themselves at most.
    longest = Math.max(longest, Math.min(dueThen, limit()));
    const [first] = run;
    if (first) longestWait = Math.max(longestWait, Math.min(at + PERIOD_MS - first.at, wait()));
    run = [];
    lastAt = at + PERIOD_MS;
  }
  lastAt = Math.max(lastAt, arrivedAt);
  const isJudged = arrivals >= thresholds.arrivals;
  const needed = after === 'learned' ? thresholds.manyArrivals : thresholds.arrivals;
  const due = isJudged ? dueBy(now) : [];
  const shortest = after === 'learned' ? thresholds.waitMin : after;
  return {
    other,
    calls: countOf(due),
    limit: limit(),
    share: Math.min(1, events / Math.max(1, calls)),
    ended,
    ...(arrivals < needed && {
      early: {
        ...{ arrivals, needed, waiting: countOf(dueBy(now, shortest)) },
        waitsFor: isJudged ? wait() : undefined,
      },
    }),
  };
}
