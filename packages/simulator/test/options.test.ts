import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { type SimulatorOptions, startSimulator, CHAOS_MODES } from '@call-webhooks/simulator';
import { settingsOf } from '../src/options.ts';
import { oneEvent, responses } from './support/one-event.ts';
import { getEvents, getJson, restOf } from './support/rest.ts';
import { STARTED_AT, testResources } from './support/test-resources.ts';

const open = testResources();

type Limits = readonly [
  name: keyof SimulatorOptions,
  accepted: readonly unknown[],
  refused: readonly unknown[],
];
const FRACTION = [
  [0, 0.5, 1],
  [-0.01, 1.01, NaN, '0.5'],
] as const;
const CENTURY = 36_525 * 86_400_000;
const DURATION = [
  [0, '90s', CENTURY, '36525d'],
  [-1, CENTURY + 1, '36526d', '5', 'soon'],
] as const;
const FLAG = [
  [true, false],
  [1, 'yes'],
] as const;

const LIMITS: readonly Limits[] = [
  ['port', [0], [-1, 65_536, 0.5, '80']],
  ['clock', ['real', 'manual'], ['fast']],
  ['startAt', [0, STARTED_AT], [-1, 0.5, new Date()]],
  ['seed', ['a', 7, ''], [{}, true]],
  ['retryEvery', ...DURATION],
  ['retryJitter', ...FRACTION],
  ['maxAttempts', [1, 1_000], [0, 1_001, 1.5]],
  ['acknowledgeWithin', ...DURATION],
  ['whilePaused', ['drop', 'hold'], ['keep']],
  ['recordingFirst', ...FRACTION],
  ['headerPrefix', ['X-Own'], ['X Own', 1]],
  ['extraHeaders', [{}, { 'X-Own': 'a' }], [{ 'X Own': 'a' }, { 'X-Own': 'a\nb' }, { 'X-Own': 1 }]],
  [
    'fieldNames',
    [{}, { calledName: 'who' }, { calledName: undefined }],
    [{ color: 'red' }, { calledName: 1 }, { calledName: ' who' }, { calledName: 'userId' }],
  ],
  ['timestamps', ['wall', 'clock'], ['none']],
  ['wallClock', [() => 0], [0]],
  ['chaos', [{}, { replay: 0 }, { replay: 1 }], [{ replay: -0.1 }, { replay: 1.1 }, { rain: 1 }]],
  ['slowBodyMs', [0, 60_000], [-1, 60_001]],
  ['maxInFlight', [1, 10_000], [0, 10_001]],
  ['patience', [1, 600_000], [0, 600_001]],
  ['keepRecords', [1, 1_000_000], [0, 1.5]],
  ['allowExternal', ...FLAG],
  ['tls', [{}, { rejectUnauthorized: false }], [1, []]],
  ['apiToken', ['mine'], [1]],
  ['rateLimit', [{ requests: 1, every: '1s' }], [{ requests: 0, every: 1 }, { requests: 1 }]],
  ['pageSize', [1, 500], [0, 501]],
  ['untilIncludesDay', ...FLAG],
  ['workspace', [], [{ users: [] }, {}, null]],
  ['baseUrl', ['https://api.example'], [1]],
];

describe.each(LIMITS)('the option %s', (name, accepted, refused) => {
  test('is taken within its limits', async () => {
    for (const value of [...accepted, undefined])
      await expect(open.simulator({ [name]: value })).resolves.toHaveProperty('url');
  });

  test('is refused beyond them, by its name', async () => {
    for (const value of refused) {
      const starting = startSimulator({ [name]: value });
      await expect(starting).rejects.toMatchObject({ code: 'invalid-input' });
      await expect(starting).rejects.toThrow(name);
    }
  });
});

test('the limits of every option are tested', async () => {
  const unknown = startSimulator({ nonsense: 1 } as never);
  const names = LIMITS.map(([name]) => name);
  await expect(unknown).rejects.toThrow(`The fields are: ${names.join(', ')}.`);
});

describe('the defaults', () => {
  /** A rule, and one call that has started, with no option but a clock that stands still. */
  async function byDefault(respond: number | Parameters<typeof open.receiver>[0] = 200) {
    const simulator = open.add(await startSimulator({ clock: 'manual' }));
    const receiver = await open.receiver(respond);
    const rule = simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url: receiver.url }],
    });
    simulator.calls.start();
    return { simulator, receiver, rule };
  }

  test('the clock is real, and begins now', async () => {
    const before = Date.now();
    const { clock } = open.add(await startSimulator());
    expect(clock.mode).toBe('real');
    expect(clock.now()).toBeGreaterThanOrEqual(before);
    expect(clock.now()).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('every figure is the documented one', () => {
    const figures = Object.entries(settingsOf({})).filter(([, value]) => typeof value === 'number');
    expect(Object.fromEntries(figures)).toEqual({
      ...{ port: 0, retryEvery: 300_000, retryJitter: 0.1, maxAttempts: 6 },
      ...{ acknowledgeWithin: 30_000, recordingFirst: 0.5, slowBodyMs: 200, maxInFlight: 64 },
      ...{ patience: 1_000, keepRecords: 100_000, pageSize: 50 },
    });
  });

  test('each run has a seed of its own', async () => {
    const [one, other] = [open.add(await startSimulator()), open.add(await startSimulator())];
    expect(one.seed).not.toBe(other.seed);
    expect(one.apiToken).not.toBe(other.apiToken);
    expect(open.add(await startSimulator({ seed: 7 })).seed).toBe('7');
  });

  test('six attempts are made, about every five minutes, and the events of a paused rule are dropped', async () => {
    const { simulator, receiver, rule } = await byDefault(500);
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(6);
    expect(simulator.rules.get(rule._id).pauseReason).toBe('last-attempt-failed');
    simulator.calls.start();
    expect(simulator.events.counts()).toEqual({ failed: 1, dropped: 1 });
    const { policy } = (await (await fetch(`${simulator.url}/_sim/state`)).json()) as never;
    expect(policy).toEqual({
      ...{ maxAttempts: 6, retryEvery: 300_000, acknowledgeWithin: 30_000, whilePaused: 'drop' },
    });
  });

  test('no chaos, signatures of the wall clock, and headers that name the simulator', async () => {
    const { simulator, receiver } = await byDefault();
    await receiver.arrived();
    expect(simulator.chaos.get()).toEqual(Object.fromEntries(CHAOS_MODES.map((mode) => [mode, 0])));
    const { headers } = receiver.received[0]!;
    expect(Math.abs(Number(headers['x-service-timestamp']) * 1_000 - Date.now())).toBeLessThan(
      60_000,
    );
    expect(headers['user-agent']).toBe('call-webhooks-simulator');
  });

  test('64 requests are on their way at the same time, and no more', async () => {
    const simulator = await open.simulator({ patience: 1 });
    const receiver = await open.receiver(() => undefined);
    const actions = [{ url: receiver.url }];
    simulator.rules.create({ trigger: 'call:started', actions });
    for (let placed = 0; placed < 66; placed++) simulator.calls.start();
    await receiver.arrived(64);
    expect(simulator.events.counts()).toEqual({ 'in-flight': 64, waiting: 2 });
  });

  test('about half of the recordings come before call:completed', async () => {
    const { rules, calls, clock, events } = await open.simulator();
    rules.forwardTo((await open.receiver()).url);
    const placed = Array.from({ length: 60 }, () => calls.place({ durationSeconds: 1 }));
    await clock.runUntilIdle();
    const first = placed.filter(({ _id }) => {
      const names = events.list({ callId: _id }).map(({ eventName }) => eventName);
      return names.indexOf('call:recording-available') < names.indexOf('call:completed');
    });
    expect(first.length).toBeGreaterThan(15);
    expect(first.length).toBeLessThan(45);
  });

  test('there is no limit of REST requests, and `until:` includes its day', async () => {
    const simulator = await open.simulator();
    simulator.messages.send({ subject: 'Hi', to: 'a@x.example' });
    for (let asked = 0; asked < 100; asked++)
      expect((await restOf(simulator)('/calls')).status).toBe(200);
    expect((await getEvents(simulator, { search: 'until:2026-01-31' })).results).toHaveLength(1);
  });

  test.each(['https://receiver.example/hook', 'http://192.168.1.5/hook', 'http://0.0.0.0/'])(
    'a receiver elsewhere is refused, unless allowExternal is set: %s',
    async (url) => {
      const input = { trigger: 'call:started', actions: [{ url }] } as const;
      const { rules } = await open.simulator();
      const refused = expect.objectContaining({ code: 'external-target' });
      for (const set of [
        () => rules.create(input),
        () => rules.forwardTo(url),
        () => rules.setRecordingWebhook({ url }),
      ])
        expect(set).toThrow(refused);
      expect(rules.list()).toEqual([]);
      const rule = rules.create({ trigger: 'call:started', actions: [] });
      expect(() => rules.addAction(rule._id, { url })).toThrow(refused);
      const action = rules.addAction(rule._id, { url: 'http://sub.localhost:9/' });
      expect(() => rules.updateAction(rule._id, action._id, { url })).toThrow(refused);
      const allowed = await open.simulator({ allowExternal: true });
      expect(allowed.rules.create(input).actions[0]!.url).toBe(url);
    },
  );

  test.each([
    'http://localhost:9/',
    'http://a.localhost/',
    'http://127.8.9.1/',
    'https://[::1]:9/',
  ])('a receiver on this machine is taken: %s', async (url) => {
    const { rules } = await open.simulator();
    expect(rules.setRecordingWebhook({ url }).actions[0]!.url).toBe(url);
  });
});

describe('what an option changes', () => {
  test('port: the simulator listens there, and fails where somebody else listens', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    await expect(startSimulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => other.close(resolve));
    expect((await open.simulator({ port })).url).toBe(`http://127.0.0.1:${String(port)}`);
  });

  test('startAt: the time of a real clock begins there as well', async () => {
    const { clock, calls, reset } = await open.simulator({ clock: 'real' });
    for (const again of [false, true]) {
      if (again) reset();
      const { dialedAt } = calls.start();
      expect(dialedAt).toBeGreaterThanOrEqual(STARTED_AT);
      expect(clock.now() - STARTED_AT).toBeLessThan(60_000);
      await clock.advance('5m');
    }
  });

  test('acknowledgeWithin: a receiver that is silent for that long has failed', async () => {
    const { simulator, receiver, event } = await oneEvent(open, () => undefined, {
      ...{ acknowledgeWithin: '3s', patience: 1 },
    });
    await receiver.arrived();
    await simulator.clock.advance('2999ms');
    expect(event().state).toBe('in-flight');
    await simulator.clock.advance('1ms');
    await simulator.events.settled();
    expect(responses(event())).toEqual(['timeout']);
  });

  test.each([
    ['1 without jitter', 0, 60_000, 60_000],
    ['with all of it', 1, 0, 120_000],
  ])('retryJitter: %s', async (_what, retryJitter, least, most) => {
    const options = { retryJitter, retryEvery: '1m', maxAttempts: 40 };
    const { simulator, event } = await oneEvent(open, 500, options);
    await simulator.clock.runUntilIdle();
    const times = event().attempts.map(({ startedAt }) => startedAt);
    const delays = times.slice(1).map((time, index) => time - times[index]!);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...delays)).toBeLessThanOrEqual(most);
    if (least < most) expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(60_000);
  });

  test('patience: how long the clock waits for a receiver that hangs', async () => {
    const simulator = await open.simulator({ patience: 150 });
    const receiver = await open.receiver(() => undefined);
    const actions = [{ url: receiver.url }];
    simulator.rules.create({ trigger: 'call:started', actions });
    const before = performance.now();
    simulator.calls.start();
    await receiver.arrived();
    await simulator.clock.advance('1s');
    expect(performance.now() - before).toBeGreaterThanOrEqual(150);
    expect(simulator.clock.now()).toBe(STARTED_AT + 1_000);
  });

  test('baseUrl: the beginning of recordingUrl', async () => {
    const simulator = await open.simulator({ baseUrl: 'https://api.example/base' });
    simulator.rules.setRecordingWebhook({ url: (await open.receiver()).url });
    const { _id } = simulator.calls.place();
    await simulator.clock.runUntilIdle();
    expect(JSON.parse(simulator.events.list()[0]!.body)).toMatchObject({
      recordingUrl: `https://api.example/base/v1/calls/${_id}/recording`,
    });
  });

  test('chaos: it is on from the start, and again after a reset', async () => {
    const { chaos, reset } = await open.simulator({ chaos: { replay: 0.5 } });
    expect(chaos.get()).toMatchObject({ replay: 0.5, duplicate: 0 });
    chaos.setAll(1);
    expect(Object.values(chaos.get())).toEqual(CHAOS_MODES.map(() => 1));
    reset();
    expect(chaos.get()).toMatchObject({ replay: 0.5, duplicate: 0 });
  });

  test('workspace: its users, teams, templates and sequences', async () => {
    const workspace = {
      _id: 'w1',
      users: [
        { _id: 'u1', name: 'One', email: 'one@w.example', teamIds: ['t1'] },
        { _id: 'u2', name: 'Two', email: 'two@w.example', teamIds: [], admin: true },
      ],
      teams: [{ _id: 't1', name: 'Team' }],
      templates: [{ _id: 'm1', name: 'hello', title: 'Hello' }],
      sequences: [{ _id: 's1', name: 'Sequence' }],
    };
    const simulator = await open.simulator({ workspace, maxAttempts: 1 });
    const receiver = await open.receiver(404);
    simulator.rules.setRecordingWebhook({ url: receiver.url });
    expect(simulator.calls.place().placedBy).toBe('u1');
    await simulator.clock.runUntilIdle();
    expect(JSON.parse(simulator.events.list()[0]!.body)).toMatchObject({ workspaceId: 'w1' });
    expect(simulator.outbox.list()[0]!.to).toEqual(['two@w.example']);
    simulator.messages.send({
      subject: 'Hi',
      to: 'a@x.example',
      templateId: 'm1',
      sequenceId: 's1',
    });
    for (const search of ['from:myself', 'from:"Team"', 'template:"Hello"', 'sequence:s1'])
      expect((await getEvents(simulator, { search })).results).toHaveLength(1);
  });

  test('pageSize: the results on a page; with exactly that many, there is no other page', async () => {
    const simulator = await open.simulator({ pageSize: 2 });
    const page = async () => {
      const { results, ...more } = await getJson<{ results: unknown[] }>(simulator, '/calls');
      return [results.length, more];
    };
    const lastPage = { next: null, hasNext: false };
    expect(await page()).toEqual([0, lastPage]);
    for (const count of [1, 2]) {
      simulator.calls.start();
      expect(await page()).toEqual([count, lastPage]);
    }
    simulator.calls.start();
    expect(await page()).toEqual([2, { next: expect.any(String), hasNext: true }]);
  });

  test('rateLimit: so many requests in each period, whatever they ask', async () => {
    let now = 50_000;
    const simulator = await open.simulator({
      ...{ rateLimit: { requests: 3, every: '2s' }, wallClock: () => now },
    });
    const ask = async () => {
      const { status, headers } = await restOf(simulator)('/calls');
      return [status, headers.get('retry-after')];
    };
    for (let asked = 0; asked < 3; asked++) expect(await ask()).toEqual([200, null]);
    expect(await ask()).toEqual([429, '2']);
    // Seconds are rounded up, so that the next request is not too early.
    for (const [after, left] of [
      [600, '2'],
      [399, '2'],
      [1, '1'],
      [999, '1'],
    ] as const) {
      now += after;
      expect(await ask()).toEqual([429, left]);
    }
    now += 1;
    for (let asked = 0; asked < 3; asked++) expect(await ask()).toEqual([200, null]);
    expect(await ask()).toEqual([429, '2']);
    // Requests with a wrong token are not counted.
    now += 2_000;
    for (let asked = 0; asked < 5; asked++) {
      const wrong = await restOf(simulator)('/calls', { headers: { 'X-API-Token': 'wrong' } });
      expect(wrong.status).toBe(401);
    }
    expect(await ask()).toEqual([200, null]);
  });
});
