import { COUNTER_SERIES, counterParts } from '@call-webhooks/core/stores';
import type { EventTimes, Times, TimesPoint } from './api-types.ts';
import { noLog } from './deliveries.ts';
import type { ConsoleSettings } from './options.ts';
import { percentiles, sum } from './numbers.ts';
import type { TimesQuery } from './requests.ts';
import { askStore } from './store-calls.ts';

const { periodMs: STEP } = COUNTER_SERIES.times;
/** Periods of an hour and of 26 hours. */
const LENGTHS = { hour: 7, day: 156 };
const MAX_EVENTS = 30;

type Counts = Readonly<Record<string, number>>;
type Kind = keyof Omit<TimesPoint, 'at'>;

const KINDS: Readonly<Record<string, Kind>> = {
  deliveryMs: 'delivery',
  handlerMs: 'handler',
  storeMs: 'store',
  lagMs: 'lag',
};

/** Durations by bucket. */
type Buckets = Map<number, number>;

/**
 * How long deliveries, handlers and the store took, by ten minutes.
 * @throws RequestError `not-configured`, `store-unavailable`
 */
export async function readTimes(
  { receiver, logger, clock }: ConsoleSettings,
  { range = 'hour', event }: TimesQuery,
): Promise<Times> {
  const { log } = receiver.store;
  if (!log) throw noLog();
  const last = Math.floor(clock.now() / STEP);
  const first = last - LENGTHS[range] + 1;
  const periods = await askStore(logger, 'log of outcomes', () =>
    log.counts('times', first, last + 1),
  );
  const points = Array.from({ length: LENGTHS[range] }, (_, index): TimesPoint => {
    const found = durationsOf([periods.get(first + index) ?? {}], event);
    const at = (kind: Kind) => percentiles(found.get(kind))?.p95 ?? null;
    return {
      at: (first + index) * STEP,
      ...{ delivery: at('delivery'), handler: at('handler'), store: at('store'), lag: at('lag') },
    };
  });
  const all = [...periods.values()];
  const whole = durationsOf(all, event);
  return {
    step: STEP,
    points,
    delivery: percentiles(whole.get('delivery')),
    handler: percentiles(whole.get('handler')),
    store: percentiles(whole.get('store')),
    lag: percentiles(whole.get('lag')),
    events: eventsOf(all),
  };
}

/** The parts of a counter: what was measured, of which event, and the bucket. */
function partsOf(name: string): {
  kind: Kind | undefined;
  event: string | undefined;
  bucket: number;
} {
  const parts = counterParts(name);
  const [kind = ''] = parts;
  return {
    kind: KINDS[kind],
    event: parts.length === 3 ? parts[1] : undefined,
    bucket: Number(parts.at(-1)),
  };
}

/** @param wanted only this event, where a duration is of one */
function durationsOf(all: readonly Counts[], wanted: string | undefined): Map<Kind, Buckets> {
  const found = new Map<Kind, Buckets>();
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) {
      const { kind, event, bucket } = partsOf(name);
      const isWanted = wanted === undefined || event === undefined || event === wanted;
      if (kind && isWanted) add(found, kind, bucket, count);
    }
  return found;
}

function add<Key>(found: Map<Key, Buckets>, key: Key, bucket: number, count: number): void {
  const buckets = found.get(key) ?? new Map<number, number>();
  found.set(key, buckets);
  buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
}

/** Each event apart, the slowest handler first. */
function eventsOf(all: readonly Counts[]): EventTimes[] {
  const found = { delivery: new Map<string, Buckets>(), handler: new Map<string, Buckets>() };
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) {
      const { kind, event, bucket } = partsOf(name);
      if (event !== undefined && (kind === 'delivery' || kind === 'handler'))
        add(found[kind], event, bucket, count);
    }
  const names = [...new Set([...found.delivery.keys(), ...found.handler.keys()])];
  return names
    .map((eventName) => ({
      eventName,
      runs: sum(found.handler.get(eventName)?.values() ?? []),
      delivery: percentiles(found.delivery.get(eventName)),
      handler: percentiles(found.handler.get(eventName)),
    }))
    .sort((one, other) => (other.handler?.p95 ?? 0) - (one.handler?.p95 ?? 0))
    .slice(0, MAX_EVENTS);
}
