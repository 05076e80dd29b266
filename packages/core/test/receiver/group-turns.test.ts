import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Admission, Claim } from '../../src/index.ts';
import { GroupTurns } from '../../src/run-event.ts';
import { DeadlineScheduler } from '../../src/time.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const claim: Claim = {
  ...{ webhookId: 'w', replayUntil: 0, key: 'k', token: 't', leaseMs: 60_000 },
  group: 'call-1',
};

/** A store whose group is busy until it is told otherwise, and the times of the claims. */
function setup({ random = 0.5, wakes = true } = {}) {
  const scheduler = new DeadlineScheduler();
  const turns = new GroupTurns({ scheduler, ackWithin: 2_000, wakes, random: () => random });
  const startedAt = performance.now();
  const times: number[] = [];
  let answer: Admission = { status: 'group-busy' };
  const store = {
    admit: () => {
      times.push(Math.round(performance.now() - startedAt));
      return Promise.resolve(answer);
    },
  };
  const info: { waitMs?: number } = {};
  const ended: unknown[] = [];
  const admit = () =>
    Promise.resolve(turns.admit(claim, store, startedAt, info)).then(
      ({ status }) => void ended.push(status),
      (error: unknown) => void ended.push(error),
    );
  return {
    turns,
    times,
    ended,
    info,
    admit,
    free: () => (answer = { status: 'admitted', attempt: 1 }),
  };
}

it('claims again after 50 ms, then ever later, and last of all at nine tenths of ackWithin', async () => {
  const { times, ended, info, admit } = setup();
  void admit();
  await jest.advanceTimersByTimeAsync(1_799);
  expect(ended).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(times).toEqual([0, 50, 150, 350, 750, 1_250, 1_750, 1_800]);
  expect(info.waitMs).toBeCloseTo(1_800);
  expect(ended).toEqual([expect.objectContaining({ code: 'in-progress' })]);
});

it('varies the times', async () => {
  const [early, late] = [setup({ random: 0 }), setup({ random: 0.75 })];
  void early.admit();
  void late.admit();
  await jest.advanceTimersByTimeAsync(500);
  expect(early.times).toEqual([0, 45, 135, 315]);
  expect(late.times).toEqual([0, 53, 158, 368]);
});

it('wakes one delivery at a time, those that came first in front', async () => {
  const { turns, times, ended, admit, free } = setup();
  for (let i = 0; i < 3; i++) void admit();
  await jest.advanceTimersByTimeAsync(10);
  turns.freed('another group');
  await jest.advanceTimersByTimeAsync(0);
  expect(times).toEqual([0, 0, 0]);
  free();
  turns.freed('call-1');
  await jest.advanceTimersByTimeAsync(0);
  expect(ended).toEqual(['admitted']);
  turns.freed('call-1');
  await jest.advanceTimersByTimeAsync(0);
  expect(ended).toEqual(['admitted', 'admitted']);
  await jest.advanceTimersByTimeAsync(40);
  expect(times).toEqual([0, 0, 0, 10, 10, 50]);
  turns.freed('call-1'); // nobody waits any more
  await jest.advanceTimersByTimeAsync(2_000);
  expect(times).toHaveLength(6);
});

it('wakes nobody where requests share no timers', async () => {
  const { turns, times, admit, free } = setup({ wakes: false });
  void admit();
  await jest.advanceTimersByTimeAsync(10);
  free();
  turns.freed('call-1');
  await jest.advanceTimersByTimeAsync(39);
  expect(times).toEqual([0]);
  await jest.advanceTimersByTimeAsync(1);
  expect(times).toEqual([0, 50]);
});

it('forgets a group that nobody waits for', async () => {
  const forget = jest.spyOn(Map.prototype, 'delete');
  const { turns, admit, free } = setup();
  void admit();
  await jest.advanceTimersByTimeAsync(10);
  free();
  turns.freed('call-1');
  expect(forget).toHaveBeenCalledWith('call-1');
  forget.mockRestore();
});

it('ends all waits when it closes, also those that begin later', async () => {
  const { turns, times, ended, admit } = setup();
  for (let i = 0; i < 2; i++) void admit();
  await jest.advanceTimersByTimeAsync(10);
  turns.close();
  void admit();
  await jest.advanceTimersByTimeAsync(0);
  const closed = expect.objectContaining({
    code: 'shutting-down',
    message: expect.stringContaining('waited for another event of its group (oneAtATime)'),
  }) as unknown;
  expect(ended).toEqual([closed, closed, closed]);
  expect(times).toHaveLength(3);
});
