import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deadLetter } from '@call-webhooks/store-tests/internal';
import { createReceiver, generateSecret, memoryDeadLetters } from '../../src/index.ts';
import { createJobProcessor, type RemovalTurn } from '../../src/stores.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const secret = generateSecret();

describe('dead letters with keepFor', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
  });

  async function withLetters(ages: number[], keepFor?: number) {
    const letters = memoryDeadLetters({ keepFor });
    for (const age of ages) await letters.put(deadLetter({ failedAt: new Date(Date.now() - age) }));
    const logger = collectingLogger();
    return { letters, logger };
  }
  const told = ({ entries }: ReturnType<typeof collectingLogger>) =>
    entries
      .filter(({ fields }) => 'removed' in fields)
      .map(({ level, fields }) => [level, fields['removed']]);

  it('are removed while the receiver runs, in batches, and counted in one line', async () => {
    const old = Array.from({ length: 350 }, () => 31 * DAY);
    const { letters, logger } = await withLetters([...old, 29 * DAY, 0], 30 * DAY);
    const removeExpired = jest.spyOn(letters, 'removeExpired');
    const receiver = createReceiver({ secret, deadLetter: letters, logger });
    await jest.advanceTimersByTimeAsync(MINUTE - 1);
    expect(await letters.count()).toBe(352);
    await jest.advanceTimersByTimeAsync(1);
    expect(await letters.count()).toBe(252); // the others wait, so that deliveries come first
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await letters.count()).toBe(2);
    expect(told(logger)).toEqual([['info', 350]]);
    for (const [turn] of removeExpired.mock.calls)
      expect(turn).toMatchObject({ limit: 100, leaseMs: 150_000 });
    expect(logger.lines[0]).toContain('removed 350 dead letters');

    await jest.advanceTimersByTimeAsync(DAY - 3 * MINUTE);
    expect(await letters.count()).toBe(2);
    await jest.advanceTimersByTimeAsync(5 * MINUTE);
    expect(await letters.count()).toBe(1);
    expect(told(logger)).toEqual([
      ['info', 350],
      ['info', 1],
    ]);
    await receiver.close();
  });

  it('expire by the clock of the receiver', async () => {
    const { letters, logger } = await withLetters([0], 30 * DAY);
    const receiver = createReceiver({
      ...{ secret, deadLetter: letters, logger },
      now: () => Date.now() + 31 * DAY,
    });
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(await letters.count()).toBe(0);
    await receiver.close();
  });

  it('are removed while a worker runs that has them', async () => {
    const { letters, logger } = await withLetters([31 * DAY], 30 * DAY);
    const processor = createJobProcessor({ deadLetter: letters, logger });
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(await letters.count()).toBe(0);
    await processor.close();
    await letters.put(deadLetter({ failedAt: new Date(0) }));
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(await letters.count()).toBe(1);
  });

  it('stay once the receiver was closed, also in the middle of a removal', async () => {
    const { letters, logger } = await withLetters(
      Array.from({ length: 250 }, () => 31 * DAY),
      30 * DAY,
    );
    const receiver = createReceiver({ secret, deadLetter: letters, logger });
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(await letters.count()).toBe(150);
    await receiver.close();
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(await letters.count()).toBe(150);
    expect(told(logger)).toEqual([['info', 100]]);
  });

  it('are kept without a limit by default', async () => {
    const { letters, logger } = await withLetters([3_650 * DAY]);
    const receiver = createReceiver({ secret, deadLetter: letters, logger });
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(await letters.count()).toBe(1);
    await receiver.close();
  });

  it('wait out an outage of their store, which is logged once', async () => {
    const { letters, logger } = await withLetters([31 * DAY], 30 * DAY);
    const { removeExpired } = letters;
    letters.removeExpired = () => Promise.reject(new Error('the disk is full'));
    const receiver = createReceiver({ secret, deadLetter: letters, logger });
    await jest.advanceTimersByTimeAsync(5 * MINUTE);
    expect(logger.entries.map(({ level, message }) => [level, message])).toEqual([
      [
        'warn',
        'call-webhooks: expired dead letters could not be removed. The next attempt is in a minute: Error: the disk is full',
      ],
    ]);
    letters.removeExpired = removeExpired!;
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(await letters.count()).toBe(0);
    await jest.advanceTimersByTimeAsync(MINUTE);
    // The next outage is another one.
    letters.removeExpired = () => Promise.reject(new Error('the disk is full'));
    await jest.advanceTimersByTimeAsync(5 * MINUTE);
    expect(logger.entries.filter(({ level }) => level === 'warn')).toHaveLength(2);
    await receiver.close();
  });

  it('are looked for again after a store that never answered', async () => {
    const { letters, logger } = await withLetters([31 * DAY], 30 * DAY);
    const { removeExpired } = letters;
    letters.removeExpired = () => new Promise(() => undefined);
    const receiver = createReceiver({ secret, deadLetter: letters, logger });
    await jest.advanceTimersByTimeAsync(MINUTE);
    letters.removeExpired = removeExpired!;
    await jest.advanceTimersByTimeAsync(2 * MINUTE);
    expect(await letters.count()).toBe(0);
    await receiver.close();
  });

  it.each([
    [1, 50],
    [5, 50],
    [10, 90],
    [200, 1_800],
  ])(
    'are removed in a tenth of the time: a batch of %d ms is followed by %d ms',
    async (ms, pause) => {
      const turns: number[] = [];
      const removeExpired = async () => {
        turns.push(performance.now());
        await new Promise((resolve) => setTimeout(resolve, ms));
        return turns.length < 4 ? 100 : undefined;
      };
      const letters = { ...memoryDeadLetters({ keepFor: DAY }), removeExpired };
      const receiver = createReceiver({ secret, deadLetter: letters, logger: collectingLogger() });
      await jest.advanceTimersByTimeAsync(MINUTE + 10_000);
      const between = turns.slice(1).map((at, index) => Math.round(at - turns[index]!));
      expect(between).toEqual([1, 2, 3].map(() => ms + pause));
      await receiver.close();
    },
  );

  it('leave no timer behind once the receiver was closed, however a removal ends', async () => {
    const ends = {
      'before the first': () => Promise.resolve(0),
      'between two batches': () => Promise.resolve(1),
      'while its store is silent': () => new Promise<never>(() => undefined),
      'after a failure': () => Promise.reject(new Error('down')),
    };
    const left: Record<string, number> = {};
    for (const [when, removeExpired] of Object.entries(ends)) {
      const letters = { ...memoryDeadLetters({ keepFor: DAY }), removeExpired };
      const receiver = createReceiver({ secret, deadLetter: letters, logger: collectingLogger() });
      if (when !== 'before the first') await jest.advanceTimersByTimeAsync(MINUTE);
      const closed = receiver.close();
      await jest.advanceTimersByTimeAsync(MINUTE);
      await closed;
      left[when] = jest.getTimerCount();
    }
    expect(left).toEqual(Object.fromEntries(Object.keys(ends).map((when) => [when, 0])));
  });

  it('expire in a queue as well', async () => {
    const turns: RemovalTurn[] = [];
    const logger = collectingLogger();
    const queue = {
      enqueue: () => Promise.resolve(),
      keepFor: 30 * DAY,
      removeExpired: (turn: RemovalTurn) => Promise.resolve(turns.push(turn) === 1 ? 3 : 0),
    };
    const receiver = createReceiver({ secret, queue, logger });
    await jest.advanceTimersByTimeAsync(MINUTE + 5_000);
    expect(turns).toHaveLength(2);
    expect(turns[0]!.before.getTime()).toBeLessThanOrEqual(Date.now() - 30 * DAY);
    expect(logger.lines[0]).toContain('removed 3 dead jobs');
    await receiver.close();
  });

  it.each<[clocks: string, own: number | undefined, of: number]>([
    ['as its queue has a clock that is 40 days ahead', 40 * DAY, 40 * DAY],
    ['as its queue has a clock that is 40 days behind', -40 * DAY, -40 * DAY],
    ['as its queue has none', undefined, 0],
  ])(
    'expire by the clock that dated them: dead jobs are not asked for by the clock of a receiver, %s',
    async (_clocks, own, ahead) => {
      const asked: Record<string, number[]> = { letters: [], jobs: [] };
      const kept = (name: string) => ({
        keepFor: 30 * DAY,
        removeExpired: ({ before }: RemovalTurn) => {
          asked[name]!.push(before.getTime() + 30 * DAY - Date.now());
          return Promise.resolve(0);
        },
      });
      const queue = {
        ...{ ...kept('jobs'), ahead: own, enqueue: () => Promise.resolve() },
        ...(own !== undefined && {
          now(this: { ahead: number }) {
            return Date.now() + this.ahead;
          },
        }),
      };
      const deadLetter = { ...memoryDeadLetters(), ...kept('letters') };
      const receiver = createReceiver({
        ...{ secret, deadLetter, queue, logger: collectingLogger() },
        now: () => Date.now() + 7 * DAY,
      });
      await jest.advanceTimersByTimeAsync(MINUTE);
      expect(asked).toEqual({ letters: [7 * DAY], jobs: [ahead] });
      await receiver.close();
    },
  );

  it('refuse a keepFor in seconds', () => {
    expect(() => memoryDeadLetters({ keepFor: 30 * 86_400 })).toThrow(
      'keepFor: expected whole milliseconds from 3600000',
    );
  });
});

it('a removal does not keep the process alive', async () => {
  const before = process.getActiveResourcesInfo();
  const receiver = createReceiver({ secret, deadLetter: memoryDeadLetters({ keepFor: DAY }) });
  expect(process.getActiveResourcesInfo()).toEqual(before);
  await receiver.close();
});
