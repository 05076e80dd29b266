import { durationPercentile } from '@call-webhooks/core/internal';
import { COUNTER_SERIES, counterParts } from '@call-webhooks/core/stores';
import type { App } from '../app.ts';
import type { OpenedStore } from '../store/engine.ts';
import { isStoreGiven, STORE_VARIABLE, withStore } from '../store/open-store.ts';
import { plainText, statusOf, type ToldStatus, withFlags } from '../store/status.ts';
import { checkTenant, TENANT_FLAG } from '../store/tenants.ts';
import { counted, duration } from '../terminal/format.ts';
import { bad, type Found, ok, skipped, warn } from './diagnosis.ts';
import type { DoctorOptions } from './doctor-options.ts';

/** Checks the store of the flags, and what `status` finds in it. */
export function store(app: App, options: DoctorOptions): Promise<Found[]> | Found {
  if (!isStoreGiven(app, options)) return skipped(`Pass --store URL, or set ${STORE_VARIABLE}.`);
  const examine = async (opened: OpenedStore) => {
    const { deadLetters, doubt, inspect } = opened;
    const { tenant } = options;
    const { server, problems } = await inspect();
    const waiting = await deadLetters.count(tenant === undefined ? undefined : { tenant });
    const all: Found[] = [...problems];
    const doubtful = waiting === 0 ? await doubt?.() : undefined;
    if (doubtful !== undefined) all.push(bad(doubtful, 'Check --store and --prefix.'));
    if (all.length === 0) all.push(ok(`${server} responds.`));
    all.push(...(await slowness(opened)));
    const fix = 'To see the causes: npx call-webhooks dead-letters causes';
    if (waiting > 0)
      all.push({
        ...warn(
          `${counted(waiting, 'dead letter')} ${waiting === 1 ? 'is' : 'are'} waiting to be redriven or removed.`,
          fix,
        ),
        check: 'dead letters',
      });
    const unknown =
      tenant === undefined
        ? undefined
        : await checkTenant(opened, tenant, { ...TENANT_FLAG, ifWrong: IF_WRONG });
    if (unknown !== undefined) all.push({ ...warn(unknown, 'Check --tenant.'), check: 'tenant' });
    return [...all, ...statusChecks(withFlags(await statusOf(opened, { tenant }), options))];
  };
  return withStore(app, options, examine, true);
}

const IF_WRONG = 'If the name is wrong, its status is meaningless.';

/** What `status` says, as checks: what is urgent is bad. */
function statusChecks({ line, attention, undecided, unknown }: ToldStatus): Found[] {
  const check = 'status';
  if (attention.length === 0) {
    const text = plainText(unknown ?? line);
    const isKnown = unknown === undefined && undecided.length === 0;
    return [{ ...(isKnown ? ok : skipped)(text), check }];
  }
  return attention.map(({ urgent, text, fix }) => ({
    ...(urgent ? bad : warn)(plainText(text), plainText(fix)),
    check,
  }));
}

/** How long a lookup of this command may take, and all store calls of a delivery; milliseconds. */
const MAX_LOOKUP_MS = 100;
const MAX_DELIVERY_MS = 500;
const LOOKUPS = 3;
/** How far the receivers' own times are looked back: at least half an hour; periods of ten minutes. */
const PERIODS = 4;

/** How long the store takes, for this command and, writes included, for the receivers. */
export async function slowness({ store }: OpenedStore): Promise<Found[]> {
  const check = 'store speed';
  const times: number[] = [];
  for (let count = 0; store.peek && count < LOOKUPS; count++) {
    const started = performance.now();
    await store.peek(['a check']);
    times.push(performance.now() - started);
  }
  const lookup = times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
  const delivery = await percentile95(store);
  const all: Found[] = [];
  if (lookup !== undefined && lookup > MAX_LOOKUP_MS)
    all.push(
      warn(
        `A lookup takes ${duration(lookup)}, which is more than ${duration(MAX_LOOKUP_MS)}. A delivery waits for several calls of this kind.`,
        'Check the load of the server, and the distance to it. A receiver should run near its store.',
      ),
    );
  if (delivery !== undefined && delivery > MAX_DELIVERY_MS)
    all.push(
      warn(
        `In the last half hour, deliveries waited for the store for ${duration(delivery)} (95th percentile), which is more than ${duration(MAX_DELIVERY_MS)}. A store that does not respond in 2 s makes the receiver reject the delivery with 503.`,
        "Check the load of the store's server, its disk, and the distance between it and the receivers.",
      ),
    );
  const told = [
    ...(lookup === undefined ? [] : [`A lookup takes ${duration(lookup)}.`]),
    ...(delivery === undefined
      ? []
      : [`Deliveries waited for the store for ${duration(delivery)} (95th percentile).`]),
  ];
  if (all.length === 0 && told.length > 0) all.push(ok(told.join(' ')));
  return all.map((one) => ({ ...one, check }));
}

/** How long the store calls of nearly all deliveries took; milliseconds. */
async function percentile95({ log }: OpenedStore['store']): Promise<number | undefined> {
  if (!log) return undefined;
  const last = Math.floor(Date.now() / COUNTER_SERIES.times.periodMs) + 1;
  const buckets = new Map<number, number>();
  for (const counters of (await log.counts('times', last - PERIODS, last)).values())
    for (const [name, count] of Object.entries(counters)) {
      const [kind, bucket] = counterParts(name);
      if (kind === 'storeMs')
        buckets.set(Number(bucket), (buckets.get(Number(bucket)) ?? 0) + count);
    }
  return durationPercentile(buckets, 0.95);
}
