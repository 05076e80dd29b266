import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines, ownTimer, waitAtMost } from '../../src/time.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Deadlines, and when each was reached. */
function setup() {
  const deadlines = new Deadlines();
  const reached: [name: string, at: number][] = [];
  const startedAt = performance.now();
  const set = (name: string, ms: number, since?: number) =>
    deadlines.in(ms, () => reached.push([name, performance.now() - startedAt]), since);
  return { deadlines, reached, set };
}

describe('deadlines that share a timer', () => {
  it('are reached at their times, in whatever order they were set', async () => {
    const { reached, set } = setup();
    set('late', 500);
    set('early', 20);
    set('middle', 100);
    set('early as well', 20);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(reached).toEqual([
      ['early', 20],
      ['early as well', 20],
      ['middle', 100],
      ['late', 500],
    ]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('count from when they began, which may be long ago', async () => {
    const { reached, set } = setup();
    await jest.advanceTimersByTimeAsync(300);
    set('began before', 500, performance.now() - 200);
    set('is over', 500, performance.now() - 600);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(reached).toEqual([
      ['is over', 300],
      ['began before', 600],
    ]);
  });

  it('are not reached once they are cancelled, and those behind them are', async () => {
    const { reached, set } = setup();
    const first = set('first', 10);
    set('second', 20);
    const third = set('third', 30);
    first.cancel();
    first.cancel();
    await jest.advanceTimersByTimeAsync(25);
    third.cancel();
    set('fourth', 10);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(reached).toEqual([
      ['second', 20],
      ['fourth', 35],
    ]);
  });

  it('may be set while others are reached', async () => {
    const { deadlines, reached, set } = setup();
    deadlines.in(10, () => void set('soon', 2));
    deadlines.in(10, () => void set('later', 5));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(reached).toEqual([
      ['soon', 12],
      ['later', 15],
    ]);
  });

  it('are reached after a test has replaced the timers, and taken the one that was set with it', async () => {
    const { reached, set } = setup();
    set('of the test', 5_000);
    jest.useRealTimers();
    jest.useFakeTimers();
    await jest.advanceTimersByTimeAsync(1_000_000);
    set('after it', 1_000);
    await jest.advanceTimersByTimeAsync(999);
    expect(reached.map(([name]) => name)).toEqual(['of the test']);
    await jest.advanceTimersByTimeAsync(1);
    expect(reached.map(([name]) => name)).toEqual(['of the test', 'after it']);
  });

  it('do not keep the process alive', () => {
    jest.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const { set } = setup();
    const deadline = set('never', 60_000);
    expect(timers()).toBe(before);
    deadline.cancel();
  });
});

describe('a time limit', () => {
  it('passes on what comes in time, and its timer is not needed any more', async () => {
    const { deadlines } = setup();
    await expect(deadlines.withTimeout(10, Promise.resolve('value'))).resolves.toBe('value');
    const failure = new Error('no');
    await expect(deadlines.withTimeout(10, Promise.reject(failure))).rejects.toBe(failure);
    const { reached, set } = setup();
    set('own', 20);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(reached).toEqual([['own', 20]]);
  });

  it('rejects with the limit, at the limit, and drops what comes later', async () => {
    const { deadlines } = setup();
    const late = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms, 'late'));
    const settled: unknown[] = [];
    for (const ms of [9, 11])
      void deadlines.withTimeout(10, late(ms)).then(
        (value) => settled.push(value),
        (error: unknown) => settled.push(String(error)),
      );
    await jest.advanceTimersByTimeAsync(9);
    expect(settled).toEqual(['late']);
    await jest.advanceTimersByTimeAsync(1);
    expect(settled).toEqual(['late', 'TimeLimitError: No answer within 10 ms.']);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(settled).toHaveLength(2);
  });
});

describe('waitAtMost', () => {
  it.each<[string, Promise<unknown>]>([
    ['resolves', Promise.resolve()],
    ['rejects', Promise.reject(new Error('no'))],
  ])('ends with a promise that %s, and leaves no timer', async (_how, promise) => {
    await expect(waitAtMost(1_000, promise)).resolves.toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends at the limit', async () => {
    const ended = jest.fn();
    void waitAtMost(1_000, new Promise(() => undefined)).then(ended);
    await jest.advanceTimersByTimeAsync(999);
    expect(ended).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledTimes(1);
  });
});

it('a timer of its own is reached at its time, unless it is cancelled, and keeps the process alive', async () => {
  const [kept, cancelled] = [jest.fn(), jest.fn()];
  ownTimer(100, kept, performance.now() - 40);
  ownTimer(100, cancelled).cancel();
  await jest.advanceTimersByTimeAsync(59);
  expect(kept).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(kept).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(cancelled).not.toHaveBeenCalled();
  jest.useRealTimers();
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const before = timers();
  const deadline = ownTimer(60_000, kept);
  expect(timers()).toBe(before + 1);
  deadline.cancel();
});
