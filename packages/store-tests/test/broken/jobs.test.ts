import { describe, expect, it } from '@jest/globals';
import {
  completeJobContractTests,
  deadJobsContractTests,
  queueContractTests,
  queueJobsContractTests,
  type TestRunner,
} from '../../src/index.ts';
import { failuresOf } from '../collect.ts';
import { BROKEN_DEAD_JOBS, BROKEN_JOBS, openJobs, type BrokenJobs } from './jobs.ts';
import { BROKEN_COMPLETIONS, BROKEN_WORKERS } from './workers.ts';

// The contract tests of jobs are tested with queues that break one promise each.

const subjectOf = (broken?: BrokenJobs) => ({
  name: 'a queue',
  keepsAttempts: true,
  within: broken ? 300 : 30_000,
  open: (options: { maxRuns: number; concurrency: number }) => openJobs(options, broken?.breaks),
});

describe.each<
  [
    what: string,
    broken: readonly BrokenJobs[],
    register: (runner: TestRunner, subject: ReturnType<typeof subjectOf>) => void,
  ]
>([
  ['dead jobs', BROKEN_DEAD_JOBS, deadJobsContractTests],
  ['all jobs', BROKEN_JOBS, queueJobsContractTests],
  ['the health of workers', BROKEN_WORKERS, queueContractTests],
  ['the completeIn of workers', BROKEN_COMPLETIONS, completeJobContractTests],
])('the tests of %s', (_what, broken, register) => {
  const names = [...new Set(broken.map(({ promise }) => promise))];

  it('pass where every promise is kept', async () => {
    const all = (runner: TestRunner) => register(runner, subjectOf());
    const { failures, ran } = await failuresOf(all, names);
    expect([...failures.values()].map(({ message }) => message)).toEqual([]);
    expect(ran).toBe(names.length);
  });

  it.each(broken.map((one) => [one.wrong, one.promise, one] as const))(
    'catch one that %s: %s',
    async (_wrong, promise, one) => {
      const { failures } = await failuresOf(
        (runner) => register(runner, subjectOf(one)),
        [promise],
      );
      expect(failures.get(promise)?.message.split('\n\n')[0]).toBe(`Broken promise: ${promise}`);
    },
  );
});
