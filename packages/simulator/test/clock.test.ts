import { describe, expect, jest, test } from '@jest/globals';
import type { Simulator } from '@call-webhooks/simulator';
import { SimulatorClock } from '../src/clock/clock.ts';
import { InFlightRequests } from '../src/clock/in-flight-requests.ts';
import { STARTED_AT, testResources } from './support/test-resources.ts';

const open = testResources();

describe('a manual clock', () => {
  const manual = async () => (await open.simulator()).clock;

  test('stands still, and does what is due on its way, in order', async () => {
    const clock = await manual();
    const done: [string, number][] = [];
    const at = (after: number, name: string) =>
      clock.sleep(after).then(() => done.push([name, clock.now() - STARTED_AT]));
    void at(2_000, 'c');
    void at(1_000, 'a');
    void at(1_000, 'b');
    void at(8_000, 'late');
    expect(clock.now()).toBe(STARTED_AT);
    for (let step = 0; step < 2; step++) await clock.next();
    expect(done).toEqual([
      ['a', 1_000],
      ['b', 1_000],
      ['c', 2_000],
    ]);
    await clock.advance('500ms');
    expect(clock.now()).toBe(STARTED_AT + 2_500);
    expect(clock.nextDueAt()).toBe(STARTED_AT + 8_000);
    expect(await clock.next()).toBe(true);
    expect(clock.now()).toBe(STARTED_AT + 8_000);
    expect(await clock.next()).toBe(false);
  });

  test('many calls of random lengths end in the order of their ends', async () => {
    const { calls, clock } = await open.simulator();
    const seconds = Array.from({ length: 60 }, (_, at) => ((at * 37) % 50) + 1);
    for (const durationSeconds of seconds) calls.place({ durationSeconds, recorded: false });
    const ended: number[] = [];
    while (await clock.next()) ended.push(calls.list().filter((one) => one.endedAt).length);
    expect(ended).toEqual([...ended].sort((one, other) => one - other));
    expect(calls.list().map((one) => one.endedAt! - one.dialedAt)).toEqual(
      seconds.map((one) => one * 1_000),
    );
  });

  test('runs until nothing is due any more', async () => {
    const { calls, clock, events, rules } = await open.simulator();
    rules.forwardTo((await open.receiver()).url);
    calls.place({ durationSeconds: 90 });
    await clock.runUntilIdle();
    expect(clock.nextDueAt()).toBeUndefined();
    expect(events.counts()).toEqual({ acknowledged: 3 });
  });

  /** What an answered attempt, and an event that is not sent any more, leave on the clock. */
  test.each<[string, (simulator: Simulator, ruleId: string) => unknown]>([
    ['an attempt was answered', () => undefined],
    ['its receiver answers nobody, and the simulator is reset', (simulator) => simulator.reset()],
    ['its rule is paused', ({ rules }, ruleId) => rules.pause(ruleId)],
    ['its rule is removed', ({ rules }, ruleId) => rules.remove(ruleId)],
    [
      'its action is removed',
      ({ rules }, ruleId) => rules.removeAction(ruleId, rules.get(ruleId).actions[0]!._id),
    ],
  ])('nothing is due once %s', async (what, end) => {
    const simulator = await open.simulator({ patience: 1 });
    const { clock, calls, events, rules } = simulator;
    const answered = what.startsWith('an attempt') ? 200 : 500;
    const receiver = await open.receiver(what.includes('nobody') ? () => undefined : answered);
    const { _id } = rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    calls.start();
    await receiver.arrived();
    if (!what.includes('nobody')) await events.settled();
    end(simulator, _id);
    await events.settled();
    expect(clock.nextDueAt()).toBeUndefined();
    expect(await clock.next()).toBe(false);
    expect(receiver.received).toHaveLength(1);
  });

  test('an attempt that has ended leaves no listener behind, however it ended', async () => {
    const simulator = await open.simulator({ maxAttempts: 2, chaos: { replay: 1 } });
    const receiver = await open.receiver((_received, response, count) => {
      if (count % 2) response.writeHead(500).end();
      else response.destroy();
    });
    const { url } = receiver;
    simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    const added = jest.spyOn(EventTarget.prototype, 'addEventListener');
    const removed = jest.spyOn(EventTarget.prototype, 'removeEventListener');
    for (let started = 0; started < 6; started++) simulator.calls.start();
    await simulator.clock.runUntilIdle();
    const left = new Map<unknown, number>();
    for (const target of added.mock.contexts) left.set(target, (left.get(target) ?? 0) + 1);
    for (const target of removed.mock.contexts) left.set(target, (left.get(target) ?? 0) - 1);
    for (const spy of [added, removed]) spy.mockRestore();
    expect(receiver.received.length).toBeGreaterThan(12);
    // Signals of single attempts go with them; the one of the simulator stays.
    expect([...left.values()].filter((count) => count > 1)).toEqual([]);
  });

  test('a reset takes back its time, and all that was planned', async () => {
    const simulator = await open.simulator();
    const { clock, calls } = simulator;
    calls.place({ durationSeconds: 60 });
    await clock.advance('30s');
    simulator.reset();
    expect([clock.now(), clock.nextDueAt()]).toEqual([STARTED_AT, undefined]);
    await clock.advance('1h');
    expect(calls.list()).toEqual([]);
  });

  test('takes turns one after the other', async () => {
    const clock = await manual();
    await Promise.all([clock.advance(10), clock.advance(10), clock.next(), clock.advance('1s')]);
    expect(clock.now()).toBe(STARTED_AT + 1_020);
  });
});

test('the clock waits anew for a receiver that it has just woken', async () => {
  const simulator = await open.simulator({ patience: 300 });
  const receiver = await open.receiver(async (_received, response) => {
    for (const part of ['10s', '19s']) await simulator.clock.sleep(part);
    response.end();
  });
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  simulator.calls.start();
  await receiver.arrived();
  await simulator.clock.runUntilIdle();
  const [event] = simulator.events.list();
  expect(event).toMatchObject({
    state: 'acknowledged',
    attempts: [{ endedAt: STARTED_AT + 29_000, response: { status: 200 } }],
  });
});

test('a real clock passes by itself, and can be advanced', async () => {
  const { clock } = await open.simulator({ clock: 'real' });
  const before = clock.now();
  await clock.sleep(5);
  expect(clock.now() - before).toBeGreaterThanOrEqual(5);
  const slept = clock.sleep('5m');
  await clock.advance('5m');
  await slept;
  expect(clock.now() - before).toBeGreaterThanOrEqual(300_000);
});

describe('durations', () => {
  test.each([
    [250, 250],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    [' 1 s ', 1_000],
    [0, 0],
  ])('%j is %d ms', async (duration, ms) => {
    const { clock } = await open.simulator();
    await clock.advance(duration);
    expect(clock.now() - STARTED_AT).toBe(ms);
  });

  test.each(['', '5', '-5m', 'm', '5 weeks', -1, NaN, Infinity, null, {}])(
    '%j is refused',
    async (wrong) => {
      const { clock } = await open.simulator();
      expect(() => clock.advance(wrong as never)).toThrow('Expected a duration');
    },
  );
});

test('a clock whose timer threw tells whoever advanced it, and can be advanced again', async () => {
  const clock = new SimulatorClock('manual', 0, new InFlightRequests(1_000), () => undefined);
  const fail = () => {
    throw new Error('mine');
  };
  const done: number[] = [];
  clock.at(1, fail);
  clock.at(2, () => void done.push(clock.now()));
  const [first, second] = [clock.advance(5), clock.advance(5)];
  await expect(first).rejects.toThrow('mine');
  await second;
  expect([done, clock.now()]).toEqual([[2], 6]);
  clock.close();
});

test('a real clock waits for what is due in months, and sets no timer that Node would end at once', async () => {
  const LONGEST_MS = 2 ** 31 - 1;
  const set = jest.spyOn(globalThis, 'setTimeout');
  const clock = new SimulatorClock('real', 0, new InFlightRequests(1_000), () => undefined);
  try {
    clock.at(100 * 86_400_000, () => undefined);
    expect(set.mock.calls.map(([, ms]) => ms)).toEqual([LONGEST_MS]);
  } finally {
    clock.close();
    set.mockRestore();
  }
});

test('a real clock that was advanced waits for the rest of what is due, and tells whole milliseconds', async () => {
  let passed = 0.25;
  const real = jest.spyOn(performance, 'now').mockImplementation(() => passed);
  const set = jest.spyOn(globalThis, 'setTimeout');
  const clock = new SimulatorClock('real', 0, new InFlightRequests(1_000), () => undefined);
  try {
    clock.at(50_000, () => undefined);
    await clock.advance(20_000);
    expect(set.mock.calls.map(([, ms]) => ms)).toEqual([50_000, 30_000]);
    passed += 10.5;
    expect(clock.now()).toBe(20_010);
  } finally {
    clock.close();
    for (const spy of [real, set]) spy.mockRestore();
  }
});

test('a real clock never goes back, not for what is overdue either', async () => {
  let passed = 0;
  const real = jest.spyOn(performance, 'now').mockImplementation(() => passed);
  const clock = new SimulatorClock('real', 100, new InFlightRequests(1_000), () => undefined);
  const seen: number[] = [];
  try {
    for (const due of [110, 120, 700]) clock.at(due, () => seen.push(clock.now()));
    passed = 500; // the process was busy: no timer could go off
    await clock.advance(0);
    expect([seen, clock.now()]).toEqual([[600, 600], 600]);
    passed = 550;
    await clock.advance(100);
    expect([seen, clock.now()]).toEqual([[600, 600, 700], 750]);
    passed = 551;
    expect(clock.now()).toBe(751);
  } finally {
    clock.close();
    real.mockRestore();
  }
});
