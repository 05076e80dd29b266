import { describe, expect, it } from '@jest/globals';
import { closeOnSignal, createReceiver, memoryDeadLetters, memoryStore } from '../src/index.ts';
import {
  type Claim,
  COUNTER_SERIES,
  createJobProcessor,
  LOG_LIMITS,
  SAME_CLOCK_MS,
} from '../src/stores.ts';
import { resolveSettings } from '../src/options.ts';
import { bytes, delivery, Lines, NOW, SECRET, STARTED } from './support.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const TEN_YEARS = 3_650 * DAY;

const receiver = (options: object) => createReceiver({ secret: SECRET, ...options });
const receiverOfTenants = (options: object) =>
  createReceiver({ secret: () => SECRET, tenant: () => 'acme', ...options });
const worker = (options: object) => createJobProcessor(options);

describe('every number that an option may be', () => {
  it.each<
    [what: string, name: string, min: number, max: number, create: (options: object) => unknown]
  >([
    ['a receiver', 'toleranceSeconds', 1, DAY / SECOND, receiver],
    ['a receiver', 'ackWithin', 1, 29 * SECOND, receiver],
    ['a receiver', 'bodyTimeout', 1, 29 * SECOND, receiver],
    ['a receiver', 'bodyLimit', 1, Number.MAX_SAFE_INTEGER, receiver],
    ['a receiver', 'maxAttempts', 1, 1_000, receiver],
    ['a receiver', 'maxInFlight', 1, 1_000_000, receiver],
    ['a receiver with tenants', 'maxInFlightPerTenant', 1, 1_000_000, receiverOfTenants],
    ['a receiver', 'leaseFor', 1, 4 * MINUTE, receiver],
    ['a receiver', 'storeTimeout', 1, 10 * SECOND, receiver],
    ['a worker', 'maxRuns', 1, 1_000_000, worker],
    ['memoryStore', 'maxEntries', 1, 10_000_000, memoryStore],
    ['memoryStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, memoryStore],
    ['memoryDeadLetters', 'maxLetters', 1, 1_000_000, memoryDeadLetters],
    ['memoryDeadLetters', 'keepFor', HOUR, TEN_YEARS, memoryDeadLetters],
  ])('%s: %s is from %d to %d', (_what, name, min, max, create) => {
    for (const taken of [min, max]) expect(() => create({ [name]: taken })).not.toThrow();
    for (const refused of [min - 1, max + 1, min + 0.5, `${String(min)} ms`, NaN, null])
      expect(() => create({ [name]: refused })).toThrow(`${name}: expected`);
  });

  it('a page of dead letters has 1 to 1,000 letters', async () => {
    const letters = memoryDeadLetters();
    for (const limit of [1, 1_000]) expect((await letters.list({ limit })).letters).toEqual([]);
    for (const limit of [0, 1_001, 1.5])
      await expect(letters.list({ limit })).rejects.toThrow('limit: expected');
  });

  it.each(['delayMs', 'graceMs'])('closeOnSignal: %s is from 0', (name) => {
    const before = process.listenerCount('SIGTERM');
    expect(() => closeOnSignal(receiver({}), { [name]: -1 })).toThrow(`${name}: expected`);
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  it.each<[string, number | string, number]>([
    ['a number', 1_000, 1_000],
    ['bytes', '512b', 512],
    ['kB', '2kb', 2 * 1024],
    ['MB', '1.5mb', 1.5 * 1024 ** 2],
    ['GB', '1gb', 1024 ** 3],
  ])('a size may be %s: %j', (_unit, bodyLimit, bytes) => {
    expect(resolveSettings({ secret: SECRET, bodyLimit }).bodyLimit).toBe(bytes);
  });
});

describe('what a store in memory keeps by default', () => {
  it('are 10,000 dead letters, and a page has 100', async () => {
    const letters = memoryDeadLetters();
    const letter = (at: number) => ({
      ...{ webhookId: `w${String(at)}`, key: `k${String(at)}`, reason: 'handler-failed' as const },
      ...{ timestamp: new Date(NOW), failedAt: new Date(NOW), attempt: 1, error: undefined },
      ...{ rawBody: bytes('{}'), source: 'webhook' as const, errorText: 'no' },
    });
    for (let at = 0; at < 10_000; at++) await letters.put(letter(at));
    await expect(letters.put(letter(10_000))).rejects.toThrow('it already has 10000');
    expect((await letters.list()).letters).toHaveLength(100);
  });

  it('are 100,000 webhook ids', async () => {
    let evicted = 0;
    const store = memoryStore({ onEvicted: () => (evicted += 1) });
    const claim = { key: undefined, leaseMs: 1_000, replayUntil: Date.now() + DAY };
    const admit = (id: string) => store.admit({ ...claim, webhookId: id, token: id });
    for (let at = 0; at < 100_000; at++) await admit(String(at));
    expect(evicted).toBe(0);
    await admit('one more');
    expect(evicted).toBe(1);
  });

  it('are 100,000 of a receiver without a store, whose logger is warned when they are more', async () => {
    const logger = new Lines();
    const { store } = receiver({ logger });
    const claim = { key: undefined, leaseMs: 1_000, replayUntil: Date.now() + DAY };
    const admit = (id: string) => store.admit({ ...claim, webhookId: id, token: id });
    for (let at = 0; at < 100_000; at++) await admit(String(at));
    expect(logger.entries).toEqual([]);
    await admit('one more');
    expect(logger.entries).toMatchObject([
      { level: 'warn', fields: { docs: expect.stringMatching(/stores\.html#memory$/) } },
    ]);
  });
});

describe('defaults that depend on other options', () => {
  it.each([
    [1_000, 100],
    [1_001, 101],
    [1, 1],
  ])('with maxInFlight %d, maxInFlightPerTenant is %d', (maxInFlight, expected) => {
    const tenants = { secret: () => SECRET, tenant: () => 'acme' };
    expect(resolveSettings({ ...tenants, maxInFlight }).maxInFlightPerTenant).toBe(expected);
    const own = resolveSettings({ ...tenants, maxInFlight, maxInFlightPerTenant: 7 });
    expect(own.maxInFlightPerTenant).toBe(7);
  });

  it('bodyTimeout is never longer than ackWithin', () => {
    expect(resolveSettings({ secret: SECRET, ackWithin: 2_000 }).bodyTimeout).toBe(2_000);
    expect(resolveSettings({ secret: SECRET, bodyTimeout: 900 }).bodyTimeout).toBe(900);
  });
});

it.each([
  [1, 300 + 60],
  [149, 300 + 60],
  [150, 301 + 60],
  [300, 601 + 60],
  [86_400, 172_801 + 60],
])(
  'with a tolerance of %d s, a webhook id is remembered for %d s: as long as any clock takes its signature',
  async (toleranceSeconds, seconds) => {
    const claims: Claim[] = [];
    const store = memoryStore();
    const { receive } = receiver({
      ...{ toleranceSeconds, now: () => NOW, onUnhandled: () => undefined },
      store: {
        ...store,
        admit: (claim: Claim) => {
          claims.push(claim);
          return store.admit(claim);
        },
      },
    });
    await receive(await delivery(STARTED));
    expect(claims.map(({ replayUntil }) => (replayUntil - NOW) / SECOND)).toEqual([seconds]);
  },
);

it('an outcome log keeps what docs/outcome-log.md says', () => {
  const kept = Object.entries(COUNTER_SERIES).map(([name, { periodMs, keptMs }]) => [
    ...[name, periodMs / MINUTE, keptMs / HOUR],
  ]);
  expect(kept).toEqual([
    ['minutes', 1, 50],
    ['times', 10, 50],
    ['arrivals', 10, 8 * 24],
  ]);
  expect(LOG_LIMITS).toEqual({
    ...{ rows: 20_000, failures: 10_000, rowsMs: 50 * HOUR },
    ...{ processes: 1_000, processesMs: 50 * HOUR },
    ...{ marks: 2_000, marksMs: 30 * DAY },
    batchMs: HOUR,
  });
  // From here on, the times of another clock are corrected.
  expect(SAME_CLOCK_MS).toBe(5 * SECOND);
});
