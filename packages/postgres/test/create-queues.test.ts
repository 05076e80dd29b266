import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createQueues } from '../src/create-queues.ts';
import { recordingBoss } from './recording-boss.ts';

const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' });

/** A pg-boss without queues, whose `createQueue` fails so many times. */
function missing(failures: number, failure = deadlock) {
  let failed = 0;
  return recordingBoss({
    getQueue: () => null,
    createQueue() {
      if (failed++ < failures) throw failure();
    },
  });
}

describe('queues', () => {
  it('that are there stay as they are', async () => {
    const { boss, calls } = recordingBoss();
    await createQueues(boss, 'calls', 'calls-dead');
    expect(calls).toEqual([
      ['getQueue', 'calls-dead'],
      ['getQueue', 'calls'],
    ]);
  });

  it('that are missing are created, first the one for dead jobs, which the other one may name', async () => {
    const { boss, calls } = missing(0);
    await createQueues(boss, 'calls', 'calls-dead');
    expect(calls).toEqual([
      ['getQueue', 'calls-dead'],
      ['createQueue', 'calls-dead'],
      ['getQueue', 'calls'],
      ['createQueue', 'calls'],
    ]);
  });

  it('are not created where pg-boss fails otherwise, and the error is its own', async () => {
    const error = Object.assign(new Error('permission denied'), { code: '42501' });
    const { boss, callsOf } = missing(1, () => error);
    await expect(createQueues(boss, 'calls', 'calls-dead')).rejects.toBe(error);
    expect(callsOf('createQueue')).toHaveLength(1);
  });
});

describe('after a deadlock a queue', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it.each([
    [0, 50],
    [0.5, 150],
    [0.995, 249],
  ])('is created again, at a random time (%d): after %d ms', async (random, ms) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    const { boss, callsOf } = missing(1);
    const created = createQueues(boss, 'calls', 'calls-dead');
    await jest.advanceTimersByTimeAsync(ms - 1);
    expect(callsOf('createQueue')).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(callsOf('createQueue')).toEqual([['calls-dead'], ['calls-dead'], ['calls']]);
    await created;
  });

  it('is not created again if another machine did so meanwhile', async () => {
    let asked = 0;
    const { boss, callsOf } = recordingBoss({
      getQueue: () => (asked++ === 0 ? null : {}),
      createQueue() {
        throw deadlock();
      },
    });
    const created = createQueues(boss, 'calls', 'calls-dead');
    await jest.advanceTimersByTimeAsync(250);
    await created;
    expect(callsOf('createQueue')).toEqual([['calls-dead']]);
  });

  it.each([
    [4, 'is there at last'],
    [5, 'is given up'],
  ])('is tried five times: after %d deadlocks it %s', async (deadlocks) => {
    const { boss, callsOf } = missing(deadlocks);
    const ended = createQueues(boss, 'calls', 'calls-dead').then(
      () => 'created',
      (error: unknown) => error,
    );
    await jest.advanceTimersByTimeAsync(10 * 250);
    expect(await ended).toEqual(deadlocks < 5 ? 'created' : deadlock());
    expect(callsOf('createQueue').filter(([name]) => name === 'calls-dead')).toHaveLength(5);
  });
});
