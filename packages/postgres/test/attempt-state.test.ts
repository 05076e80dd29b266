import { describe, expect, it } from '@jest/globals';
import { attemptState, hasOwnLimit, retryLimitOf } from '../src/attempt-state.ts';
import type { PgBossJob } from '../src/pg-boss.ts';
import { BEYOND, fetchedJob } from './recording-boss.ts';

const LOST = 'Its last run came to no end: the process died, or expireIn had passed.';

describe('the limit of a job', () => {
  it('is far beyond the attempts of its worker, and counts retries, not runs', () => {
    expect(retryLimitOf(1)).toBe(BEYOND);
    expect(retryLimitOf(5_000)).toBe(BEYOND + 4_999);
  });

  it.each([
    [0, true],
    [BEYOND - 1, true],
    [BEYOND, false],
    [BEYOND + 1, false],
  ])('of %d is pg-boss’s own: %p', (retryLimit, isOwn) => {
    expect(hasOwnLimit(fetchedJob({ retryLimit }))).toBe(isOwn);
  });
});

/** Of a job that gets three runs. */
const stateOf = (retryCount: number, output: PgBossJob['output'] = null) =>
  attemptState(fetchedJob({ retryCount, output }));

describe('a run', () => {
  it.each([
    [0, 1, false],
    [1, 2, false],
    [2, 3, true],
    [3, 4, true],
  ])('after %d retries is attempt %d of 3; the last one: %p', (retryCount, attempt, isLast) => {
    expect(stateOf(retryCount)).toMatchObject({ attempt, maxRuns: 3, isLastAttempt: isLast });
  });

  it.each<[string, number, PgBossJob['output'], string | undefined]>([
    ['the last one has not been', 2, null, undefined],
    ['the last one came to no end', 3, null, LOST],
    ["pg-boss's own text is there", 3, { released: false }, LOST],
    ['it was released in the last one', 3, { released: true }, undefined],
    ['it was given up before', 3, { abandonReason: 'the CRM is down' }, 'the CRM is down'],
    ['it was given up early', 0, { abandonReason: 'the CRM is down' }, 'the CRM is down'],
  ])('knows why no handler is run any more: %s', (_when, retryCount, output, reason) => {
    expect(stateOf(retryCount, output).abandonReason).toBe(reason);
  });
});
