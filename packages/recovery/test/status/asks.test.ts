import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { status, type StatusStore } from '@call-webhooks/recovery';
import { COMPLETED, MINUTE, STARTED } from './service-model.ts';
import { ack, NOW, rowAt, statusOf, storeWith } from './written-log.ts';

describe('what a status asks its store for', () => {
  it('is what reconcile runs found and covered, of each tenant that is counted by its name', async () => {
    const names: string[] = [];
    const { log } = await storeWith({
      marks: {
        [ack(COMPLETED, 'acme')]: NOW,
        [ack(STARTED, 'acme')]: NOW,
        [counterName('failed', 'globex', COMPLETED, 's')]: NOW,
        [ack(COMPLETED, '*')]: NOW,
        queue: NOW,
      },
    });
    const loadCursor = async (name: string) => {
      names.push(name);
      return undefined;
    };
    await status({ store: { log, loadCursor } });
    expect(names.sort()).toEqual(
      ['', 'tenant:acme:', 'tenant:globex:'].flatMap((tenant) => [
        ...[`${tenant}call-webhooks.covered`, `${tenant}call-webhooks.reconciled`],
      ]),
    );
  });

  it('is the state of each event that failed or became a dead letter, once, and of none that is redacted', async () => {
    const asked: (readonly string[])[] = [];
    const { log } = await storeWith({
      failures: [
        rowAt(60, { key: 'long-ago' }),
        rowAt(55, { key: 'dead', outcome: 'dead-lettered' }),
        rowAt(10, { key: 'twice' }),
        rowAt(5, { key: 'twice', attempt: 2 }),
        rowAt(4, { key: 'once' }),
        rowAt(3, { key: '[redacted]:call:completed' }),
        rowAt(2, { outcome: 'overloaded' }),
        // These are no deliveries that the service sends again.
        rowAt(2, { key: 'replayed', outcome: 'replayed' }),
        rowAt(2, { key: 'late', late: true }),
        rowAt(2, { key: 'redriven', source: 'redrive' }),
        rowAt(2, { key: 'refused', outcome: 'signature-mismatch' }),
      ],
      marks: { [counterName('failed', '', COMPLETED, 's')]: NOW - 2 * MINUTE },
    });
    const peek = async (keys: readonly string[]) => {
      asked.push(keys);
      return keys.map(() => undefined);
    };
    await status({ store: { log, peek, rememberFor: 86_400_000 } });
    expect(asked.map((keys) => [...keys].sort())).toEqual([['dead', 'long-ago', 'once', 'twice']]);
    // Nothing has failed.
    const calm = await storeWith({ marks: { [ack(COMPLETED)]: NOW } });
    await status({ store: { log: calm.log, peek } });
    expect(asked).toHaveLength(1);
  });
});

describe('a store that does not answer', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'], now: NOW }));
  afterEach(() => void jest.useRealTimers());
  const never = () => new Promise<never>(() => undefined);
  const docs = 'https://call-webhooks.github.io/call-webhooks/status.html#store';

  /** @returns the status, and how long it took */
  async function asked(store: StatusStore) {
    const state = { isDone: false };
    const asking = status({ store }).finally(() => (state.isDone = true));
    for (let turn = 0; !state.isDone && turn < 200; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      await jest.advanceTimersByTimeAsync(100);
    }
    const found = await asking;
    return { ...found, pending: jest.getTimerCount() };
  }

  it('within 2 seconds is down', async () => {
    const { attention, unknown, pending, ...rest } = await asked({ ping: never });
    expect(attention).toEqual([
      {
        ...{ kind: 'store', urgent: true, since: rest.at, count: 1, docs },
        text: 'The store does not answer, so every delivery is rejected with 503: Error: ping() of the store did not end within 2000 ms.',
        fix: "Check the store's server. The log line contains its error. If Redis reports READONLY after a failover, make the client reconnect (with ioredis, set reconnectOnError).",
      },
    ]);
    expect([unknown, pending]).toEqual(['The store does not answer.', 0]);
    expect(rest).toMatchObject({ undecided: [], events: [], notes: [] });
  });

  it.each(['marks', 'counts', 'read', 'processes'] as const)(
    'to %s() of its log within 10 seconds has a log that cannot be read, which is not urgent',
    async (method) => {
      const { log } = await storeWith({ marks: { [ack(COMPLETED)]: NOW } });
      const { attention, unknown, pending, at } = await asked({
        log: { ...log!, [method]: never },
      });
      const what = { marks: 'marks', counts: 'counters', read: 'rows', processes: 'processes' };
      const of = method === 'counts' ? 'counters' : `${what[method]} of the log`;
      expect(attention).toEqual([
        {
          ...{ kind: 'store', urgent: false, since: at, count: 1, docs },
          text: `The outcome log of the store cannot be read, so it is unknown which events arrive: Error: ${of} of the store did not end within 10000 ms.`,
          fix: "Check the store's server. Deliveries don't depend on the log, so they may continue.",
        },
      ]);
      expect([unknown, pending]).toEqual(['The outcome log cannot be read.', 0]);
    },
  );
});

it('a status without anything is empty, and has its time and its zone', async () => {
  expect(await statusOf({})).toEqual({
    ...{ at: NOW, attention: [], undecided: [], events: [], notes: [], timeZone: 'UTC' },
  });
  const { timeZone: _, ...local } = await statusOf({ asked: { timeZone: undefined } });
  expect(local).toEqual({ at: NOW, attention: [], undecided: [], events: [], notes: [] });
});

it('a status has the time that it is asked for, whether or not its store and its log answer', async () => {
  const down = () => Promise.reject(new Error('connection refused'));
  const { log } = await storeWith({ marks: { [ack(COMPLETED)]: NOW } });
  const now = () => NOW + 7 * MINUTE;
  for (const store of [{ log }, {}, { ping: down }, { log: { ...log!, marks: down } }]) {
    const { at, attention } = await status({ store, now });
    expect([at, ...attention.map(({ since }) => since)]).toEqual([
      ...[now(), ...attention.map(() => now())],
    ]);
  }
});
