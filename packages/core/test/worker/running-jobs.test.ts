import { describe, expect, it } from '@jest/globals';
import { RunningJobs } from '../../src/internal.ts';
import { deferred } from '../support.ts';

describe('the running jobs of a worker', () => {
  it('can be aborted one by one, also after they ended', async () => {
    const running = new RunningJobs<string>();
    const end = deferred();
    const signals: AbortSignal[] = [];
    const work = async (signal: AbortSignal) => {
      signals.push(signal);
      await end.promise;
    };
    await running.run('ended', () => Promise.resolve());
    const both = [running.run('one', work), running.run('other', work)];
    running.abort(['ended', 'other']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    end.resolve();
    await Promise.all(both);
    expect(running.size).toBe(0);
  });
});
