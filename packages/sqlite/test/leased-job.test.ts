import { expect, it } from '@jest/globals';
import type { TakenJob } from '../src/job-rows.ts';
import { leasedJob } from '../src/leased-job.ts';

const MAX_ATTEMPTS = 10;
const of = (taken: Partial<TakenJob>) =>
  leasedJob(
    undefined as never, // only its methods need the table
    {
      ...{ id: 1, token: 'token', attempt: 1, crashes: 0, isLastRun: false },
      ...{ abandonReason: undefined, delivery: {} as TakenJob['delivery'] },
      ...taken,
    },
    { backoff: () => 1, leaseFor: 90, maxRuns: MAX_ATTEMPTS },
  );

it.each<[string, Partial<TakenJob>, boolean]>([
  ['is run for the first time', {}, false],
  ['is run on its last attempt, though it crashed', { attempt: 10, crashes: 9 }, false],
  ['is run beyond it after three crashes', { attempt: 11, crashes: 3 }, false],
  ['is not run beyond it after four', { attempt: 11, crashes: 4 }, true],
  ['is run after many failures without a crash', { attempt: 11, crashes: 0 }, false],
  ['is run when it was retried by hand', { attempt: 3, isLastRun: true }, false],
  ['is not run when each of such runs crashed', { attempt: 7, crashes: 4, isLastRun: true }, true],
])('a job %s', (_what, taken, isAbandoned) => {
  const { abandonReason } = of(taken);
  expect(abandonReason).toEqual(
    isAbandoned ? new Error('Its process died in each of the last attempts (4).') : undefined,
  );
});

it('keeps the reason why a job was given up before', () => {
  expect(of({ abandonReason: 'the CRM is down' }).abandonReason).toEqual(
    new Error('the CRM is down'),
  );
});

it('knows the last attempt, by number or because it was retried by hand', () => {
  const isLast = (taken: Partial<TakenJob>) => of(taken).isLastAttempt;
  expect(isLast({ attempt: 9 })).toBe(false);
  expect(isLast({ attempt: 10 })).toBe(true);
  expect(isLast({ attempt: 2, isLastRun: true })).toBe(true);
});

it('renews a lease after a third of it', () => {
  expect(of({}).extendEvery).toBe(30);
});
