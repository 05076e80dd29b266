import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Delivery,
  SimulatorError,
  type SimulatorOptions,
  startSimulator,
} from '@call-webhooks/simulator';
import fc from 'fast-check';
import { SimulatorClock } from '../../src/clock/clock.ts';
import { milliseconds } from '../../src/clock/duration.ts';
import { InFlightRequests } from '../../src/clock/in-flight-requests.ts';
import { Timers } from '../../src/clock/timers.ts';
import { testResources } from '../support/test-resources.ts';

describe('a snapshot', () => {
  const open = testResources();
  let folder: string;
  let db: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simulator-'));
    db = join(folder, 'state.db');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const start = (options: SimulatorOptions = {}) =>
    open.simulator({ db, seed: undefined, ...options });
  const statuses = ({ attempts }: Delivery) =>
    attempts.map(({ response }) =>
      response?.kind === 'status' ? response.status : response?.kind,
    );

  describe('what a restart takes up', () => {
    test('texts with any kind of line break', async () => {
      const calledName = 'a\nb\rc\u0085d\u2028e\u2029f';
      const one = await start();
      one.calls.start({ calledName });
      await one.close();
      const two = await start();
      expect(two.calls.list()).toMatchObject([{ calledName }]);
    });

    test('retries go on when they are due, with the same secret and the same token', async () => {
      const one = await start();
      const receiver = await open.receiver(503);
      one.rules.forwardTo(receiver.url);
      one.calls.start();
      await one.deliveries.settled();
      const due = one.clock.nextDueAt();
      await one.close();

      const two = await start({ startAt: 0 });
      expect([two.seed, two.apiToken, two.secrets.all()]).toEqual([
        one.seed,
        one.apiToken,
        one.secrets.all(),
      ]);
      expect([two.clock.now(), two.clock.nextDueAt()]).toEqual([one.clock.now(), due]);
      await two.clock.next();
      receiver.respond = (_received, response) => void response.end();
      await two.clock.runUntilIdle();
      expect(statuses(two.deliveries.list()[0]!)).toEqual([503, 503, 200]);
      const ids = receiver.received.map(({ headers }) => headers['x-service-webhook-id']);
      expect(new Set(ids).size).toBe(3);
    });

    test('a paused rule stays paused, and what it holds is sent when it is resumed', async () => {
      const one = await start({ whilePaused: 'hold' });
      const receiver = await open.receiver(404);
      const { _id } = one.rules.create({
        trigger: 'call:started',
        actions: [{ url: receiver.url, payload: { call: '{{callId}}' } }],
      });
      one.calls.start();
      await one.deliveries.settled();
      one.calls.start();
      await one.close();

      const two = await start({ whilePaused: 'hold' });
      expect(two.rules.list()).toEqual(one.rules.list());
      expect(two.outbox.list()).toEqual(one.outbox.list());
      two.calls.start();
      expect(two.deliveries.counts()).toEqual({ failed: 1, held: 2 });
      expect(new Set(two.calls.list().map((call) => call._id)).size).toBe(3);
      receiver.respond = (_received, response) => void response.end();
      two.rules.resume(_id);
      await two.clock.runUntilIdle();
      expect(two.deliveries.counts()).toEqual({ failed: 1, acknowledged: 2 });
    });

    test('calls under way end when they would have ended, in the same order', async () => {
      const one = await start({ recordingFirst: 1 });
      one.rules.forwardTo((await open.receiver()).url);
      const call = one.calls.place({ durationSeconds: 60 });
      await one.clock.advance('1m');
      one.calls.place({ durationSeconds: 60 });
      await one.clock.advance('500ms');
      await one.close();

      const two = await start({ recordingFirst: 1 });
      await two.clock.runUntilIdle();
      const [ended, other] = two.calls.list();
      expect(ended).toMatchObject({
        endedAt: call.dialedAt + 60_000,
        loggedAt: call.dialedAt + 62_000,
        recording: { availableAt: call.dialedAt + 61_000 },
      });
      expect(other!.endedAt).toBe(call.dialedAt + 120_000);
      expect(two.deliveries.counts()).toEqual({ acknowledged: 6 });
    });

    test('an attempt that was in flight counts as broken, and is made anew', async () => {
      const one = await start({ patience: 50, maxAttempts: 1 });
      const receiver = await open.receiver(() => undefined);
      one.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
      one.calls.start();
      await one.clock.advance('1s');
      await one.close();
      receiver.respond = (_received, response) => void response.end();

      const two = await start({ maxAttempts: 1 });
      await two.clock.runUntilIdle();
      const [delivery] = two.deliveries.list();
      expect(delivery!.state).toBe('acknowledged');
      expect(statuses(delivery!)).toEqual(['connection-error', 200]);
    });

    test('messages, what happened to them, chaos, and the counts of a reset', async () => {
      const one = await start();
      one.reset();
      one.chaos.set({ replay: 0.25 });
      const { _id } = one.messages.send({ subject: 'Hi', to: 'a@x.example' });
      one.messages.record(_id, { action: 'clicked' });
      await one.close();

      const two = await start({ chaos: { duplicate: 0.5 } });
      expect(two.messages.list()).toEqual(one.messages.list());
      expect(two.messages.activities()).toEqual(one.messages.activities());
      expect(two.chaos.get()).toMatchObject({ replay: 0.25, duplicate: 0.5 });
      expect(two.messages.send({ subject: 'Hi', to: 'a@x.example' })._id).not.toBe(_id);
    });

    test('a clock that flows went on meanwhile', async () => {
      const one = await start({ clock: 'real', startAt: undefined });
      await one.clock.advance('1h');
      const before = one.clock.now();
      await one.close();
      await new Promise((resolve) => setTimeout(resolve, 30));
      const two = await start({ clock: 'real', startAt: undefined });
      expect(two.clock.now() - before).toBeGreaterThanOrEqual(25);
      expect(two.clock.now() - before).toBeLessThan(60_000);
    });
  });

  test('the file is written while it runs, and its owner alone may read it', async () => {
    const simulator = await start();
    simulator.rules.forwardTo('http://127.0.0.1:9/hook');
    const [secret] = simulator.secrets.all();
    let text = '';
    for (let tries = 0; !text.includes(secret!) && tries < 200; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      text = await readFile(db, 'utf8').catch(() => '');
    }
    expect(text).toContain(secret);
    expect((await stat(db)).mode & 0o777).toBe(0o600);
  });

  test('a last write that fails is told by close, and by closed', async () => {
    const simulator = await startSimulator({ db });
    await rm(folder, { recursive: true });
    await expect(simulator.close()).rejects.toThrow('ENOENT');
    await expect(simulator.closed).rejects.toThrow('ENOENT');
    folder = await mkdtemp(join(tmpdir(), 'simulator-'));
  });

  /** The text of a file with one rule: written once, as no test changes it. */
  let saved: Promise<string> | undefined;
  async function saveOne(): Promise<string> {
    const simulator = await start();
    simulator.rules.forwardTo('http://127.0.0.1:9/hook');
    await simulator.close();
    return readFile(db, 'utf8');
  }

  const refusal = async () => {
    const error: unknown = await startSimulator({ db }).then(
      (simulator) => simulator.close(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(SimulatorError);
    expect(error).toMatchObject({ code: 'bad-snapshot' });
    const { message } = error as Error;
    expect(message).toContain(db);
    expect(message).toContain('Move the file away to start from scratch');
    expect(message).not.toContain('whsec_');
    return message;
  };

  test.each<[string, (text: string) => string, string]>([
    ['empty', () => '', 'is truncated'],
    ['of another program', () => 'SQLite format 3', 'is not JSON'],
    ['other JSON', () => '{"name":"x"}\n', 'was not written by a simulator'],
    [
      'newer',
      (text) => text.replace('"version":1', '"version":2'),
      'update @call-webhooks/simulator',
    ],
    ['without a seed', (text) => text.replace('"seed"', '"speed"'), 'invalid first line'],
    ['cut off between lines', (text) => text.replace(/\n[^\n]*\n$/, '\n'), 'is truncated'],
    ['cut off within a line', (text) => text.slice(0, text.length / 2), 'is not JSON'],
    ['without one of its lines', (text) => text.replace(/\n\["rule.*/, ''), 'is incomplete'],
    ['with a line of another kind', (text) => text.replace('["rule"', '["role"'), 'invalid line'],
    ['longer than it is', (text) => `${text}["end",0]\n`, 'after its last line'],
    ['with a rule that is none', (text) => text.replace('"actions"', '"action"'), 'Cannot restore'],
  ])('a file that is %s is refused, with the fix', async (_what, change, expected) => {
    await writeFile(db, change(await (saved ??= saveOne())));
    expect(await refusal()).toContain(expected);
  });

  test('a folder in its place is refused, too', async () => {
    db = folder;
    expect(await refusal()).toContain('EISDIR');
  });

  test('one that another simulator uses is refused, and is free when that one is closed', async () => {
    const first = await startSimulator({ db });
    await expect(startSimulator({ db })).rejects.toMatchObject({
      code: 'db-in-use',
      message: expect.stringContaining('Stop it, or set db to another file.'),
    });
    await first.close();
    await (await startSimulator({ db })).close();
    expect(await readdir(folder)).toEqual(['state.db']);
  });

  test('rules that send to other machines are not taken up without allowExternal', async () => {
    const allowing = await startSimulator({ db, allowExternal: true });
    allowing.rules.create({
      trigger: 'call:started',
      actions: [{ url: 'https://receiver.example/hook' }],
    });
    await allowing.close();
    expect(await refusal()).toMatch(/set allowExternal .*--allow-external/);
  });

  test('a file that can not be written is told at the start, not at the end', async () => {
    await expect(startSimulator({ db: join(folder, 'none', 'state.db') })).rejects.toMatchObject({
      code: 'bad-snapshot',
      message: expect.stringContaining('state.db: ENOENT'),
    });
  });
});

describe('the clock', () => {
  const idle = new InFlightRequests(10);
  const manual = () => new SimulatorClock('manual', 1_000, idle, () => undefined);

  describe('a manual clock', () => {
    test('stands still, and does on its way what falls due, in order', async () => {
      const clock = manual();
      const done: [string, number][] = [];
      const at = (time: number, name: string) =>
        clock.at(time, () => done.push([name, clock.now()]));
      at(3_000, 'c');
      at(2_000, 'a');
      at(2_000, 'b');
      at(9_000, 'late');
      at(2_500, 'cancelled').cancel();
      clock.at(2_000, () => at(2_200, 'added on the way'));
      await clock.advance('2.5s');
      expect(done).toEqual([
        ['a', 2_000],
        ['b', 2_000],
        ['added on the way', 2_200],
        ['c', 3_000],
      ]);
      expect(clock.now()).toBe(3_500);
      expect(clock.nextDueAt()).toBe(9_000);
      expect(await clock.next()).toBe(true);
      expect(clock.now()).toBe(9_000);
      expect(await clock.next()).toBe(false);
    });

    test('runs until nothing is due any more', async () => {
      const clock = manual();
      let left = 5;
      const again = () => {
        if (left-- > 0) clock.at(clock.now() + 60_000, again);
      };
      again();
      await clock.runUntilIdle();
      expect(clock.now()).toBe(301_000);
    });

    test('takes turns one after the other', async () => {
      const clock = manual();
      await Promise.all([clock.advance(10), clock.advance(10), clock.next(), clock.advance('1s')]);
      expect(clock.now()).toBe(2_020);
    });

    test('wakes sleepers', async () => {
      const clock = manual();
      const slept = clock.sleep('1m').then(() => clock.now());
      await clock.advance('2m');
      expect(await slept).toBe(61_000);
    });
  });

  test('a real clock flows, and can be turned ahead', async () => {
    const clock = new SimulatorClock('real', 1_000, idle, () => undefined);
    const fired = new Promise<number>((resolve) => {
      clock.at(clock.now() + 5, () => {
        resolve(clock.now());
      });
    });
    expect(await fired).toBeGreaterThanOrEqual(1_005);
    let due = false;
    clock.at(clock.now() + 300_000, () => (due = true));
    await clock.advance('5m');
    expect(due).toBe(true);
    expect(clock.now()).toBeGreaterThanOrEqual(301_000);
    clock.close();
  });

  test('durations', () => {
    expect([250, '250ms', '30s', '5m', '1.5h', '2d', ' 1 s ', 0].map(milliseconds)).toEqual([
      250, 250, 30_000, 300_000, 5_400_000, 172_800_000, 1_000, 0,
    ]);
    for (const wrong of ['', '5', '-5m', 'm', '5 weeks', -1, NaN, Infinity, null, {}])
      expect(() => milliseconds(wrong)).toThrow('A duration must be');
  });

  test('timers come out in the order of their time, and of their making where it is the same', () => {
    const plan = fc.array(fc.record({ at: fc.nat(20), cancelled: fc.boolean() }));
    fc.assert(
      fc.property(plan, (entries) => {
        const timers = new Timers();
        const ran: number[] = [];
        entries.forEach(({ at, cancelled }, index) => {
          const timer = timers.add(at, () => ran.push(index));
          if (cancelled) timer.cancel();
        });
        for (let run = timers.take(20); run; run = timers.take(20)) run();
        const expected = entries
          .map((entry, index) => ({ ...entry, index }))
          .filter(({ cancelled }) => !cancelled)
          .sort((one, other) => one.at - other.at || one.index - other.index);
        expect(ran).toEqual(expected.map(({ index }) => index));
        expect(timers.nextAt()).toBeUndefined();
      }),
    );
  });

  test('nothing is taken before its time', () => {
    const timers = new Timers();
    timers.add(10, () => undefined);
    expect(timers.take(9)).toBeUndefined();
    expect(timers.take(10)).toBeInstanceOf(Function);
  });
});
