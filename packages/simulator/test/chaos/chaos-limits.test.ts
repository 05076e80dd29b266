import { describe, expect, test } from '@jest/globals';
import { CHAOS_MODES, type ChaosMode, type SimulatorOptions } from '@call-webhooks/simulator';
import { STARTED_AT, testResources } from '../support/test-resources.ts';

const open = testResources();
const WALL = Date.UTC(2030, 0, 1);

/** Many calls that have started at once, all of them with one mode of chaos. */
async function many(chaos: Partial<Record<ChaosMode, number>>, options: SimulatorOptions = {}) {
  const simulator = await open.simulator({
    ...{ chaos, slowBodyMs: 0, maxAttempts: 1_000, wallClock: () => WALL },
    ...options,
  });
  const receiver = await open.receiver();
  const rule = simulator.rules.create({
    trigger: 'call:started',
    actions: [{ url: receiver.url }],
  });
  const start = async (count: number) => {
    for (let placed = 0; placed < count; placed++) simulator.calls.start();
    await simulator.clock.runUntilIdle();
    return simulator.events.list();
  };
  return { simulator, receiver, rule, start };
}

const between = (values: readonly number[], least: number, most: number) => {
  expect(Math.min(...values)).toBeGreaterThanOrEqual(least);
  expect(Math.max(...values)).toBeLessThanOrEqual(most);
  // They are spread over the whole range.
  expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan((most - least) / 2);
};

describe('how far chaos goes', () => {
  test('a duplicate comes half a second to ten seconds later', async () => {
    const { start } = await many({ duplicate: 1 });
    const events = await start(30);
    const sent = (id: string) => events.find((one) => one._id === id)!.attempts[0]!.startedAt;
    const copies = events.filter(({ copiedBy }) => copiedBy === 'duplicate');
    expect(copies).toHaveLength(30);
    between(
      copies.map((copy) => sent(copy._id) - sent(copy.copyOf!)),
      500,
      10_000,
    );
  });

  test('one to three concurrent copies are sent at the same time as the event', async () => {
    const { start } = await many({ concurrentDuplicates: 1 });
    const events = await start(30);
    expect(events.every(({ attempts }) => attempts[0]!.startedAt === STARTED_AT)).toBe(true);
    const originals = events.filter(({ copyOf }) => copyOf === undefined);
    const copies = originals.map(({ _id }) => events.filter(({ copyOf }) => copyOf === _id).length);
    expect([...new Set(copies)].sort()).toEqual([1, 2, 3]);
    for (const { copyOf, copiedBy, body } of events.filter((one) => one.copyOf !== undefined)) {
      expect(copiedBy).toBe('concurrentDuplicates');
      expect(body).toBe(originals.find(({ _id }) => _id === copyOf)!.body);
    }
  });

  test('an event is reordered by one second to a minute', async () => {
    const { start } = await many({ reorder: 1 });
    const events = await start(40);
    const delays = events.map(({ attempts }) => attempts[0]!.startedAt - STARTED_AT);
    between(delays, 1_000, 60_000);
  });

  test('copies of an event that is reordered follow the event, not the call', async () => {
    const { start } = await many({ reorder: 1, duplicate: 1, concurrentDuplicates: 1 });
    const events = await start(20);
    const sent = (id: string) => events.find((one) => one._id === id)!.attempts[0]!.startedAt;
    const after = (by: string) =>
      events
        .filter(({ copiedBy }) => copiedBy === by)
        .map(({ _id, copyOf }) => sent(_id) - sent(copyOf!));
    between(after('duplicate'), 500, 10_000);
    expect(new Set(after('concurrentDuplicates'))).toEqual(new Set([0]));
  });

  test('a skewed clock is six to fifteen minutes ahead or behind', async () => {
    const { start } = await many({ clockSkew: 1 });
    const events = await start(40);
    const skews = events.map(({ attempts }) => {
      const { headers } = attempts[0]!.request;
      return Number(headers['X-Service-Timestamp']) - WALL / 1_000;
    });
    between(skews.map(Math.abs), 360, 900);
    const ahead = skews.filter((skew) => skew > 0).length;
    expect(ahead).toBeGreaterThan(8);
    expect(ahead).toBeLessThan(32);
  });

  test('a tampered body differs in one digit, and is still JSON', async () => {
    const { start } = await many({ tamperedBody: 1 });
    const changed = new Set<number>();
    for (const { body, attempts } of await start(20)) {
      const sent = attempts[0]!.request.body;
      expect(() => void JSON.parse(sent)).not.toThrow();
      expect(sent).toHaveLength(body.length);
      const places = Array.from(body, (one, at) => (one === sent[at] ? [] : [at])).flat();
      expect(places).toHaveLength(1);
      expect(sent[places[0]!]).toMatch(/[1-9]/);
      changed.add(places[0]!);
    }
    expect(changed.size).toBeGreaterThan(5);
  });

  test('a body without a digit is tampered with as well', async () => {
    const { simulator, rule, start } = await many({ tamperedBody: 1 });
    const [action] = rule.actions;
    simulator.rules.updateAction(rule._id, action!._id, { payload: { text: 'none' } });
    const [event] = await start(1);
    expect(event!.attempts[0]!.request.body).not.toBe(event!.body);
    expect(JSON.parse(event!.attempts[0]!.request.body)).toEqual({ text: 'none' });
  });

  test.each(CHAOS_MODES)('%s strikes as often as its probability says', async (mode) => {
    const { simulator, rule, start } = await many({ [mode]: 0.25 });
    if (mode === 'oldSecret') simulator.secrets.rotate(rule.actions[0]!._id);
    const events = await start(80);
    const struck = new Set(
      events.flatMap(({ _id, copyOf, attempts }) => {
        if (copyOf !== undefined) return [copyOf];
        const isLate = attempts[0]!.startedAt > STARTED_AT;
        return isLate || attempts.some(({ chaos }) => chaos.includes(mode)) ? [_id] : [];
      }),
    );
    expect(struck.size).toBeGreaterThan(4);
    expect(struck.size).toBeLessThan(40);
  });

  test.each(['slowBody', 'replay'] as const)('%s strikes the last attempt too', async (mode) => {
    const { receiver, start } = await many({ [mode]: 1 }, { maxAttempts: 1 });
    const [event] = await start(1);
    expect(event!.attempts.map(({ chaos }) => chaos)).toEqual(
      mode === 'replay' ? [['replay'], ['replay']] : [['slowBody']],
    );
    expect(receiver.received).toHaveLength(mode === 'replay' ? 2 : 1);
  });

  test.each(['dropResponse', 'wrongSecret', 'oldSecret', 'clockSkew', 'tamperedBody'] as const)(
    '%s leaves the last attempt alone',
    async (mode) => {
      const { simulator, rule, start } = await many({ [mode]: 1 }, { maxAttempts: 1 });
      simulator.secrets.rotate(rule.actions[0]!._id);
      const [event] = await start(1);
      expect(event).toMatchObject({ state: 'acknowledged', attempts: [{ chaos: [] }] });
    },
  );

  test('an unsigned action is spared from what is done to signatures', async () => {
    const chaos = { wrongSecret: 1, oldSecret: 1, clockSkew: 1, tamperedBody: 1 };
    const { simulator, rule, start } = await many(chaos);
    simulator.rules.updateAction(rule._id, rule.actions[0]!._id, { signed: false });
    const [event] = await start(1);
    expect(event!.attempts[0]!.chaos).toEqual(['tamperedBody']);
  });

  test('a response other than a status is not dropped', async () => {
    const { receiver, start } = await many({ dropResponse: 1 }, { maxAttempts: 2 });
    receiver.respond = (_received, response, count) => {
      if (count === 1) response.destroy();
      else response.end();
    };
    const [event] = await start(1);
    expect(event!.attempts[0]).toMatchObject({ response: { kind: 'connection-error' } });
    expect(event!.attempts[0]).not.toHaveProperty('droppedResponse');
  });
});

test('setAll and set change what they name, and nothing else', async () => {
  const { chaos } = await open.simulator();
  for (const mode of CHAOS_MODES) {
    chaos.setAll(0.5);
    const expected = { ...chaos.get(), [mode]: 0.75 };
    expect(chaos.set({ [mode]: 0.75 })).toEqual(expected);
    expect(chaos.get()).toEqual(expected);
  }
  expect(() => chaos.setAll(1.01)).toThrow('must be a number from 0 to 1');
  expect(chaos.clear()).toEqual(Object.fromEntries(CHAOS_MODES.map((mode) => [mode, 0])));
});
