import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Outcome, type OutcomeCode } from '../../src/index.ts';
import { STATUS } from '../../src/outcome-table.ts';
import { OutcomeTally } from '../../src/store/outcome-tally.ts';
import { counterName, counterParts, createJobProcessor } from '../../src/stores.ts';
import { useLateClock } from '../late-clock.ts';
import { loggedStore } from '../logged-store.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';
import {
  createTestReceiver,
  deferred,
  delivery,
  Lines,
  NOW,
  OTHER_SECRET,
  SECONDS,
  SECRET_ID,
  STARTED,
} from '../support.ts';

type Told = readonly [mark: 'ack' | 'failed' | undefined, arrived?: 'arrived'];
const OF_VERIFIED: Record<OutcomeCode, Told> = {
  handled: ['ack', 'arrived'],
  duplicate: ['ack'],
  ignored: ['ack', 'arrived'],
  queued: ['ack', 'arrived'],
  'dead-lettered': ['ack', 'arrived'],
  'in-dead-letters': ['ack'],
  'missing-header': ['failed'],
  'malformed-header': ['failed'],
  'timestamp-out-of-tolerance': ['failed'],
  'signature-mismatch': ['failed'],
  'method-not-allowed': ['failed'],
  'body-timeout': ['failed'],
  replayed: [undefined],
  'body-too-large': ['failed'],
  'unsupported-encoding': ['failed'],
  'invalid-payload': ['failed'],
  'handler-failed': ['failed'],
  'body-already-parsed': ['failed'],
  'in-progress': ['failed'],
  deadline: ['failed'],
  overloaded: [undefined],
  'store-unavailable': ['failed'],
  'secret-unavailable': ['failed'],
  'shutting-down': [undefined],
};

describe.each(Object.entries(OF_VERIFIED) as [OutcomeCode, Told][])(
  'the counts and marks of %s',
  (code, [mark, arrived]) => {
    const ended = {
      ...{ outcome: code, status: STATUS[code], eventName: 'call:started', tenant: 'acme' },
      ...{ durationMs: 2, handlerMs: 4, lagMs: 8, storeMs: 16 },
    };
    const taken = (outcome: Outcome) => {
      const tally = new OutcomeTally();
      tally.add(outcome, NOW);
      return tally.take();
    };
    const minute = (counts: object) => ({ [Math.floor(NOW / 60_000)]: counts });
    const ten = (counts: object) => ({ [Math.floor(NOW / 600_000)]: counts });
    const handler = { 'handlerMs/call:started/8': 1 };
    const waits = { 'lagMs/12': 1, 'storeMs/16': 1 };

    it.each(['webhook', 'redrive', 'reconcile', 'queue'] as const)(
      'of a delivery that was verified, or was none: %s',
      (source) => {
        const isWebhook = source === 'webhook';
        expect(taken({ ...ended, source, webhookId: 'id-1', secretId: 'blue' })).toEqual({
          counts: {
            minutes: minute({ [`outcome/${source}/${code}/call:started`]: 1, 'secret/blue': 1 }),
            times: ten({
              ...{ ...handler, ...waits },
              ...(isWebhook && { 'deliveryMs/call:started/4': 1 }),
            }),
            ...(isWebhook && arrived && { arrivals: ten({ 'call:started/acme': 1 }) }),
          },
          marks: {
            ...(isWebhook && mark && { [`${mark}/acme/call:started/blue`]: NOW }),
            ...(source === 'queue' && { queue: NOW }),
          },
        });
      },
    );

    it('that comes after the deadline', () => {
      expect(
        taken({ ...ended, source: 'webhook', webhookId: 'id-1', secretId: 'blue', late: true }),
      ).toEqual({
        counts: {
          minutes: minute({ [`late/webhook/${code}/call:started`]: 1 }),
          times: ten(handler),
          ...(arrived && { arrivals: ten({ 'call:started/acme': 1 }) }),
        },
        marks: {},
      });
    });

    it('of a request that nobody verified', () => {
      const isRejected = [
        ...['signature-mismatch', 'timestamp-out-of-tolerance'],
        ...['body-already-parsed', 'secret-unavailable'],
      ].includes(code);
      expect(taken({ ...ended, source: 'webhook' })).toEqual({
        counts: {
          minutes: minute({
            [`outcome/webhook/${code}/call:started`]: 1,
            ...(isRejected && { [`rejected/${code}/acme`]: 1 }),
          }),
          times: ten({ ...handler, ...waits }),
        },
        marks: {},
      });
    });
  },
);

describe('what an outcome adds to the log', () => {
  useLateClock();
  const pass = (ms = 1_000) => jest.advanceTimersByTimeAsync(ms);
  const started = (callId: string) => ({ ...STARTED, callId });
  /** The counters whose names begin with one of these texts. */
  const only = (counts: Record<string, number>, ...prefixes: string[]) =>
    Object.fromEntries(
      Object.entries(counts).filter(([name]) => prefixes.some((one) => name.startsWith(one))),
    );

  it('are arrivals, and the times of the last ones that were acknowledged or failed', async () => {
    const on = {
      'call:started': ({ callId }: { callId: string }) => {
        if (callId === 'bad') throw new Error('no');
      },
    };
    const { store, batches, counts } = loggedStore();
    const clock = { now: NOW };
    const { send } = createTestReceiver({ store, on, now: () => clock.now });
    await send(started('c1'));
    await send(started('c1'));
    clock.now = NOW + 5;
    await send(started('bad'));
    clock.now = NOW + 9;
    await send({ eventName: 'other', callId: 'c2' }, { webhookId: 'again' });
    clock.now = NOW + 20;
    expect(await send({ eventName: 'other', callId: 'c2' }, { webhookId: 'again' })).toBe(
      'replayed',
    );
    await pass();
    expect(batches.map(({ marks }) => marks)).toEqual([
      {
        [`ack//call:started/${SECRET_ID}`]: NOW,
        [`failed//call:started/${SECRET_ID}`]: NOW + 5,
        [`ack//other/${SECRET_ID}`]: NOW + 9,
      },
    ]);
    const arrivals = await store.log!.counts('arrivals', 0, Infinity);
    expect([...arrivals.values()]).toEqual([{ 'call:started/': 1, 'other/': 1 }]);
    const durations = only(await counts(), 'deliveryMs/call:started/', 'storeMs/');
    expect(Object.values(durations).reduce((sum, count) => sum + count, 0)).toBe(3 + 5);
  });

  it.each<[string, boolean, object, object?]>([
    ['signature-mismatch', true, {}, { secret: OTHER_SECRET }],
    ['timestamp-out-of-tolerance', true, {}, { now: () => NOW + 301_000 }],
    ['secret-unavailable', true, {}, { secret: () => Promise.reject(new Error('down')) }],
    ['body-already-parsed', true, { body: {} }],
    ['missing-header', false, { headers: {} }],
    ['method-not-allowed', false, { method: 'GET' }],
    ['body-too-large', false, { body: new Uint8Array(2_000_000) }],
    ['unsupported-encoding', false, { headers: { 'content-encoding': 'gzip' } }],
  ])('counts %s among the rejected: %s', async (code, isRejected, changes, options = {}) => {
    const { store, counts } = loggedStore();
    const { receiver } = createTestReceiver({ store, ...options });
    const request = { ...(await delivery(STARTED)), ...changes };
    expect((await receiver.receive(request)).outcome.outcome).toBe(code);
    await pass();
    expect(only(await counts(), 'rejected/')).toEqual(
      isRejected ? { [`rejected/${code}/`]: 1 } : {},
    );
  });

  it('keep the time of the last one when the clock of the process is set back', async () => {
    const { store, batches } = loggedStore();
    const clock = { now: NOW };
    const on = { 'call:started': () => undefined };
    const { send } = createTestReceiver({ store, on, now: () => clock.now });
    await send(started('c1'));
    clock.now = NOW - 60_000;
    await send(started('c2'));
    await pass();
    expect(batches.map(({ marks }) => marks)).toEqual([
      { [`ack//call:started/${SECRET_ID}`]: NOW },
    ]);
  });

  it('count an event whose handler ended after its deadline as one that arrived, once', async () => {
    const work = deferred();
    const on = { 'call:started': () => work.promise };
    const { store } = loggedStore();
    const { send } = createTestReceiver({ store, on, ackWithin: 50, now: () => Date.now() });
    const sent = send(started('c1'));
    await pass(50);
    expect(await sent).toBe('deadline');
    work.resolve();
    await pass(0);
    expect(await send(started('c1'))).toBe('duplicate');
    await pass();
    const arrivals = await store.log!.counts('arrivals', 0, Infinity);
    expect([...arrivals.values()]).toEqual([{ 'call:started/': 1 }]);
    const { marks } = await store.log!.marks();
    expect(Object.keys(marks).sort()).toEqual([
      `ack//call:started/${SECRET_ID}`,
      `failed//call:started/${SECRET_ID}`,
    ]);
  });

  it('are named by 100 events, and together beyond', async () => {
    const { store, counted } = loggedStore();
    const { send } = createTestReceiver({ store });
    for (let n = 0; n < 103; n++) await send({ eventName: `e/${String(n)}`, callId: 'c1' });
    await send({ eventName: 'e/7', callId: 'c2' });
    // No name of an event, and so not told.
    await send({ eventName: 'Ada Lovelace', callId: 'c3' });
    await pass();
    const events = await counted();
    expect(events['outcome/webhook/ignored/*']).toBe(4);
    expect(events['outcome/webhook/ignored/e%2F7']).toBe(2);
    expect(Object.keys(events)).toHaveLength(101);
  });

  it('are named by 100 tenants, before those that nobody has verified', async () => {
    const { store, counts } = loggedStore();
    const { send } = createTenantsReceiver({ store, secret: ({ tenant }) => secretOf(tenant) });
    const forge = (tenant: string) => send(tenant, STARTED, { secret: secretOf('forger') });
    for (let n = 0; n < 120; n++) await forge(`forged-${String(n)}`);
    await send('acme', STARTED);
    await forge('acme');
    await pass();
    const rejected = only(await counts(), 'rejected/');
    expect(rejected['rejected/signature-mismatch/*']).toBe(20);
    expect(rejected['rejected/signature-mismatch/acme']).toBe(1);
    expect(Object.keys(rejected)).toHaveLength(102);
    expect(only(await counts(), 'call:started/')).toEqual({ 'call:started/acme': 1 });
    for (let n = 0; n < 99; n++) await send(`verified-${String(n)}`, STARTED);
    await send('one-more', STARTED);
    await forge('forged-119');
    await pass();
    const arrivals = only(await counts(), 'call:started/');
    expect(arrivals).toMatchObject({ 'call:started/verified-98': 1, 'call:started/*': 1 });
    // All 100 names are those of tenants that somebody has verified.
    expect((await counts())['rejected/signature-mismatch/*']).toBe(21);
    expect(Object.keys((await store.log!.marks()).marks)).toContain('ack/*/call:started/');
  });

  it('is also when a job ended last', async () => {
    const { store } = loggedStore();
    const run = createJobProcessor({ on: { 'call:started': () => undefined }, log: store.log });
    const body = btoa(JSON.stringify(started('c1')));
    await run({ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW, body });
    await run.close();
    expect((await store.log!.marks()).marks).toEqual({ queue: NOW });
  });

  it('is told with what the process is', async () => {
    const store = memoryStore({ now: () => NOW, rememberFor: 700_000 });
    const { send, receiver } = createTestReceiver({ store, ackWithin: 9_000, version: '1.2 (é)' });
    await send(started('c1'));
    await receiver.close();
    const run = createJobProcessor({
      on: { 'call:started': () => undefined },
      log: store.log!,
      ...{ version: 'v2', logger: new Lines() },
    });
    await run({ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW, body: '' });
    await run.close();
    const [made, worker] = await store.log!.processes();
    expect(made).toMatchObject({
      version: '1.2 (é)',
      ackWithin: 9_000,
      rememberFor: expect.any(Number),
    });
    expect(worker).toMatchObject({ version: 'v2' });
    for (const name of ['ackWithin', 'rememberFor']) expect(worker).not.toHaveProperty(name);
  });

  it.each(['', 'x'.repeat(101), 'a\nb', 3])('refuses the version %j', (version) => {
    const expected = 'version: expected 1 to 100 characters without control characters';
    expect(() => createTestReceiver({ version } as never)).toThrow(expected);
    expect(() => createJobProcessor({ version } as never)).toThrow(expected);
  });

  it('has the times of when it happened, also if the store takes it much later', async () => {
    const outageMs = 3_600_000;
    let isDown = true;
    const { store, rows } = loggedStore(async (batch, log) => {
      if (isDown) throw new Error('down');
      await log.append(batch);
    });
    const { send } = createTestReceiver({ store, now: undefined });
    await send(started('c1'));
    await pass(outageMs);
    isDown = false;
    await pass(60_000);
    const [row] = await rows();
    expect(row).toMatchObject({ callId: 'c1', at: NOW });
    const { marks } = await store.log!.marks();
    expect(Object.values(marks)).toEqual([NOW]);
  });
});

it.each([
  [['a', 'b'], 'a/b'],
  [['a/b', '', '%2F%'], 'a%2Fb//%252F%25'],
])('the parts %j are the name %j', (parts, name) => {
  expect(counterName(...parts)).toBe(name);
  expect(counterParts(name)).toEqual(parts);
});
