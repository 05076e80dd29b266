import * as runner from '@jest/globals';
import { afterEach, expect, it, jest } from '@jest/globals';
import { storeContractTests } from '@call-webhooks/store-tests';
import Database from 'libsql';
import { CallWebhooksStore, durableObjectStore } from '../src/index.ts';
import type { ObjectState } from '../src/durable-object.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** The state of an object, as the platform keeps it; its alarm is called by tests. */
function objectState() {
  const db = new Database(':memory:');
  const alarm: { at: number | null } = { at: null };
  const state: ObjectState = {
    storage: {
      sql: {
        exec(query, ...values) {
          if (query.includes(';')) db.exec(query);
          const rows = query.includes(';') ? [] : db.prepare(query).all(values);
          return { toArray: () => rows as object[] };
        },
      },
      transactionSync: (work) => db.transaction(work)(),
      getAlarm: () => Promise.resolve(alarm.at),
      setAlarm(at) {
        alarm.at = at;
        return Promise.resolve();
      },
    },
  };
  return { state, db, alarm };
}

/** Objects by their names, on one clock. */
function namespace() {
  const clock = { ahead: 0 };
  class TestStore extends CallWebhooksStore {
    protected override now(): number {
      return Date.now() + clock.ahead;
    }
  }
  const objects = new Map<string, ReturnType<typeof objectState> & { object: TestStore }>();
  const at = (name: string) => {
    const made = objectState();
    const found = objects.get(name) ?? { ...made, object: new TestStore(made.state, {}) };
    objects.set(name, found);
    return found;
  };
  /** Calls arrive later, as they do over the network. */
  const stub = (object: object) =>
    new Proxy(object, {
      get:
        (_target, name) =>
        async (...args: unknown[]) =>
          (Reflect.get(object, name) as (...args: unknown[]) => unknown).apply(object, args),
    });
  const binding = {
    idFromName: (name: string) => name,
    get: (name: string) => stub(at(name).object),
  };
  return { clock, binding, at, objects };
}

storeContractTests(runner, {
  name: 'durableObjectStore on objects in this process',
  without: ['log', 'refusals', 'size'],
  open() {
    const { clock, binding, objects } = namespace();
    const storeAhead = (ms = 0) =>
      durableObjectStore(binding, { now: () => Date.now() + clock.ahead + ms });
    return Promise.resolve({
      store: storeAhead(),
      others: [storeAhead()],
      skewed: storeAhead,
      now: () => Date.now() + clock.ahead,
      advance(ms) {
        clock.ahead += ms;
      },
      close() {
        for (const { db } of objects.values()) db.close();
        return Promise.resolve();
      },
    });
  },
});

it('an alarm that may delete no more rows at once goes on a second later, and else an hour later', async () => {
  const { clock, binding, at } = namespace();
  const store = durableObjectStore(binding);
  const { object, alarm, db } = at('call-webhooks');
  const id = (number: number, replayUntil: number) =>
    store.admit({
      ...{ webhookId: `w-${String(number)}`, token: `t-${String(number)}`, replayUntil },
      ...{ key: undefined, leaseMs: 1_000 },
    });
  for (let number = 0; number < 2_001; number++) await id(number, Date.now() + 1_000);
  await id(2_001, Date.now() + 7_200_000);
  const left = () => (db.prepare('SELECT id FROM ids').all() as object[]).length;
  clock.ahead = 600_000;
  const alarmed = async () => {
    await object.alarm();
    return [left(), Math.round(((alarm.at ?? 0) - Date.now()) / 60_000)];
  };
  expect(await alarmed()).toEqual([2, 0]);
  expect(await alarmed()).toEqual([1, 60]);
  db.close();
});

it.each([
  ['ids', "'x' || n, 'token', n"],
  ['events', "'x' || n, 'token', 1, 1, 0, n"],
  ['groups', "'x' || n, 'event', n"],
  ['bodies', "'x' || n, 'body', n"],
])('an alarm deletes up to 2,000 old %s, and goes on a second later', async (table, values) => {
  const { at } = namespace();
  const { object, alarm, db } = at('call-webhooks');
  db.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2001)
    INSERT INTO ${table} SELECT ${values} FROM numbers`);
  const left = () => db.prepare(`SELECT * FROM ${table}`).all().length;
  const from = Date.now();
  await object.alarm();
  expect(left()).toBe(1);
  expect(alarm.at).toBeGreaterThanOrEqual(from + 1_000);
  expect(alarm.at).toBeLessThan(from + 60_000);
  alarm.at = null;
  await object.alarm();
  expect([left(), alarm.at]).toEqual([0, null]);
  db.close();
});

it('leaves the alarm of an object alone when the object was started again', async () => {
  const { state, alarm, db } = objectState();
  const claim = { keepIdMs: 1_000, rememberFor: 600_000, token: 't', leaseMs: 1_000 };
  await new CallWebhooksStore(state, {}).admit({ ...claim, webhookId: 'w-1', key: 'event' });
  const planned = alarm.at;
  expect(planned).not.toBeNull();
  alarm.at = planned! - 3_000_000; // it was started a while ago
  const again = new CallWebhooksStore(state, {});
  await again.admit({ ...claim, webhookId: 'w-2', key: 'other' });
  await again.keepBody('job-1', 'body', 600_000);
  expect(alarm.at).toBe(planned! - 3_000_000);
  db.close();
});

it('leaves no row and no alarm behind when it says that it is ready', async () => {
  const { binding, at } = namespace();
  const { alarm, db } = at('call-webhooks');
  for (let pings = 0; pings < 2; pings++) await durableObjectStore(binding).ping?.();
  expect([db.prepare('SELECT * FROM ids').all(), alarm.at]).toEqual([[], null]);
  db.close();
});

it.each([
  ['short', ''],
  ['longer than the 256 characters that are stored as they are', 'k'.repeat(300)],
])(
  'tells the events of two tenants and of none apart, in every call: keys that are %s',
  async (_, long) => {
    const [one, two, three] = [`${long}1`, `${long}2`, `${long}3`] as const;
    const { binding, objects } = namespace();
    const store = durableObjectStore(binding);
    const [acme, globex, none] = ['tenant:acme:', 'tenant:globex:', ''] as const;
    const more = { replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    const admit = (key: string, token = `of ${key}`) =>
      store.admit({ ...more, webhookId: `${key} ${token}`, key, token });
    for (const tenant of [acme, globex, none])
      for (const call of [one, two])
        expect(await admit(`${tenant}${call}`)).toEqual({ status: 'admitted', attempt: 1 });
    const own = (key: string) => [key, `of ${key}`] as const;
    expect(await store.complete(...own(`${acme}${one}`))).toBe(true);
    expect(await store.release(...own(`${globex}${one}`))).toBe(true);
    expect(await store.complete(...own(one), 'dead-lettered')).toBe(true);
    expect(await store.extend(...own(`${globex}${two}`), 60_000)).toBe(true);
    expect(await store.complete(...own(`${acme}${two}`), 'dead-lettered')).toBe(true);
    const keys = [
      one,
      `${globex}${one}`,
      `${acme}${two}`,
      `${acme}${one}`,
      `${globex}${two}`,
      two,
      `${acme}${three}`,
    ];
    expect(await store.peek!(keys)).toEqual([
      ...['dead-lettered', 'failed', 'dead-lettered', 'handled', 'running', 'running', undefined],
    ]);
    expect(await store.reopen!(`${globex}${two}`)).toBe(false);
    expect(await store.reopen!(`${acme}${two}`)).toBe(true);
    expect(
      await store.forget!([
        `${globex}${one}`,
        `${acme}${one}`,
        `${globex}${two}`,
        one,
        `${acme}${three}`,
      ]),
    ).toBe(3);
    expect(await store.peek!(keys)).toEqual([
      ...[undefined, undefined, undefined, undefined, 'running', 'running', undefined],
    ]);
    expect([...objects.keys()].sort()).toEqual([
      ...['call-webhooks', 'call-webhooks:tenant:acme', 'call-webhooks:tenant:globex'],
    ]);
    for (const { db } of objects.values()) db.close();
  },
);

it('sets an alarm again for what is stored after an alarm that left nothing', async () => {
  const { clock, binding, at } = namespace();
  const store = durableObjectStore(binding);
  const { object, alarm, db } = at('call-webhooks');
  const remember = (webhookId: string) =>
    store.admit({
      ...{ webhookId, token: webhookId, key: undefined, leaseMs: 1_000 },
      replayUntil: Date.now() + clock.ahead + 1_000,
    });
  await remember('w-1');
  expect(alarm.at).not.toBeNull();
  clock.ahead = 600_000;
  alarm.at = null; // as the platform does before it calls
  await object.alarm();
  expect(alarm.at).toBeNull();
  await remember('w-2');
  expect(alarm.at).not.toBeNull();
  db.close();
});

it('sets an alarm for a body alone, and removes it once its time is over', async () => {
  const { clock, at } = namespace();
  const { object, alarm, db } = at('call-webhooks:bodies');
  await object.keepBody('job-1', 'of Ada', 600_000);
  expect(alarm.at).not.toBeNull();
  const bodies = async (ahead: number) => {
    clock.ahead = ahead;
    alarm.at = null; // as the platform does before it calls
    await object.alarm();
    return object.loadBody('job-1');
  };
  expect([await bodies(590_000), alarm.at === null]).toEqual(['of Ada', false]);
  expect([await bodies(610_000), alarm.at === null]).toEqual([undefined, true]);
  db.close();
});

it('keeps the id of a body that was dropped, and nothing of the body', async () => {
  const { at } = namespace();
  const { object, db } = at('call-webhooks');
  await object.keepBody('job-1', 'of Ada', 600_000);
  await object.keepBody('job-2', 'of Grace', 600_000);
  object.dropBody('job-1');
  expect([object.loadBody('job-1'), object.loadBody('job-2')]).toEqual(['', 'of Grace']);
  expect(JSON.stringify(db.prepare('SELECT * FROM bodies').all())).not.toContain('Ada');
  db.close();
});

it.each([undefined, 'weur'])(
  'creates every object where it is told to (%s)',
  async (locationHint) => {
    const { binding } = namespace();
    const hints: unknown[] = [];
    const get = (name: string, options: object) => {
      hints.push(options);
      return binding.get(name);
    };
    const store = durableObjectStore({ ...binding, get }, { locationHint });
    const claim = {
      webhookId: 'w-1',
      token: 't-1',
      replayUntil: Date.now() + 1_000,
      leaseMs: 1_000,
    };
    await store.admit({ ...claim, key: 'tenant:acme:event' });
    await store.peek?.(['event']);
    await store.ping?.();
    expect(new Set(hints.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(locationHint === undefined ? {} : { locationHint })]),
    );
  },
);

it.each([
  [240_000, 'in-progress'],
  [240_001, 'admitted'],
])(
  'a lease that lasts %d ms more is %s once its own minute is over: with more, the clock was set back',
  async (left, status) => {
    const { clock, binding } = namespace();
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
    const store = durableObjectStore(binding);
    const claim = (token: string) => ({
      ...{ webhookId: token, token, key: 'event', group: 'call', leaseMs: 60_000 },
      replayUntil: Date.now() + 1_000,
    });
    clock.ahead = left - 60_000;
    expect((await store.admit(claim('died'))).status).toBe('admitted');
    clock.ahead = 0;
    expect((await store.admit(claim('next'))).status).toBe('in-progress');
    expect((await store.admit({ ...claim('other'), key: 'another' })).status).toBe('group-busy');
    clock.ahead = 60_001;
    expect((await store.admit(claim('next'))).status).toBe(status);
  },
);
