import { expect, test } from '@jest/globals';
import { settle } from '../src/history/settle.ts';

// When the history check stops waiting for jobs: with processes that are played, second by second.

/** A job that is dead until it is retried, and has its effect after `runs` seconds in which its worker runs. */
function play({
  runs,
  standsStill = () => false,
}: {
  runs: number;
  standsStill?: (second: number) => boolean;
}) {
  const seen = { seconds: 0, activity: 0, beats: 0, left: runs, isDead: true };
  return {
    seen,
    run: {
      isSound: () => seen.left === 0,
      retryDead: () => {
        const dead = seen.isDead ? 1 : 0;
        seen.isDead = false;
        seen.activity += dead;
        return Promise.resolve(dead);
      },
      activity: () => seen.activity,
      beats: () => [seen.beats],
      sleep: () => {
        seen.seconds += 1;
        if (!standsStill(seen.seconds) && !seen.isDead) {
          seen.beats += 1;
          if (seen.left > 0 && --seen.left === 0) seen.activity += 1;
        }
        return Promise.resolve();
      },
    },
  };
}

test('a dead job is retried before anything is judged, and the run ends with its effect', async () => {
  const { run, seen } = play({ runs: 3 });
  await settle(run);
  expect(seen).toMatchObject({ left: 0, isDead: false, seconds: 3 });
});

test('seconds in which a worker does not get to run are not quiet', async () => {
  const { run, seen } = play({ runs: 15, standsStill: (second) => second > 2 && second < 60 });
  await settle(run);
  expect(seen).toMatchObject({ left: 0, seconds: 72 });
});

test('a job that never has its effect ends the run after 20 quiet seconds', async () => {
  const { run, seen } = play({ runs: Infinity });
  await settle(run);
  expect(seen.seconds).toBe(20);
});

test('a worker that stands still for good, or is gone, ends the run as well', async () => {
  const still = play({ runs: 5, standsStill: () => true });
  await settle(still.run);
  expect(still.seen).toMatchObject({ left: 5, seconds: 600 });
  const gone = play({ runs: Infinity });
  await settle({ ...gone.run, beats: () => [undefined] });
  expect(gone.seen.seconds).toBe(20);
});

test('dead jobs that cannot be retried at first are retried again, and a lasting failure is told', async () => {
  const { run, seen } = play({ runs: 1 });
  let calls = 0;
  const busy = () => Promise.reject(new Error('database is locked'));
  await settle({ ...run, retryDead: () => (++calls < 4 ? busy() : run.retryDead()) });
  expect(seen.left).toBe(0);
  await expect(settle({ ...run, retryDead: busy })).rejects.toThrow('database is locked');
});
