import { afterEach, describe, expect, it } from '@jest/globals';
import { THIS_VERSION } from '../src/checkout.ts';
import { costRounds } from '../src/cost-rounds.ts';
import { queuedDeliveries, type Which } from '../src/queues/backend.ts';
import { drain } from '../src/queues/drain.ts';
import { openSqlite } from '../src/queues/sqlite.ts';
import { receiverPath, costOf } from '../src/stores/load.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The backend that needs no server. */
async function open() {
  const backend = await openSqlite(THIS_VERSION);
  stops.push(() => backend.stop());
  return backend;
}

describe.each<Which>(['ours', 'bare'])('the jobs of SQLite, %s', (which) => {
  it('are all done when a turn of the worker ends, and then removed', async () => {
    const backend = await open();
    let runs = 0;
    const { wall, cpu } = await drain(
      {
        ...backend,
        startWorker: (which, onRun) =>
          backend.startWorker(which, () => {
            runs += 1;
            onRun();
          }),
        async clear() {
          expect(await backend.openJobs(which)).toBe(0);
          await backend.clear();
        },
      },
      which,
      40,
    );
    expect(runs).toBe(40);
    expect(Math.min(wall, cpu)).toBeGreaterThan(0);
  });

  it('must be the ones that were prepared', async () => {
    const backend = await open();
    await backend.queue.enqueue(queuedDeliveries(1)[0]!);
    await backend.addBare(queuedDeliveries(1)[0]!);
    await expect(drain(backend, which, 3)).rejects.toThrow('4 of 3 jobs are open');
  });
});

describe('a receiver with a queue', () => {
  it('hands over each delivery', async () => {
    const { queue, openJobs } = await open();
    await costOf(await receiverPath(THIS_VERSION, { queue }), 20, 8);
    expect(await openJobs('ours')).toBe(20);
    expect(await openJobs('bare')).toBe(0);
  });
});

describe('rounds of costs', () => {
  it('have time and CPU time of the same turns, without warm-ups', async () => {
    let turns = 0;
    const turn = () => Promise.resolve({ wall: ++turns, cpu: turns * 10 });
    const { wall, cpu } = await costRounds(
      'test',
      { a: turn, b: turn },
      { rounds: 2, quick: true },
    );
    expect(wall).toHaveLength(2);
    expect(Math.min(...wall.flatMap((round) => Object.values(round)))).toBe(3);
    expect(cpu).toEqual(wall.map(({ a, b }) => ({ a: a! * 10, b: b! * 10 })));
  });
});
