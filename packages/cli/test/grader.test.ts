import { describe, expect, test } from '@jest/globals';
import { PROBES } from '../src/grader/probes.ts';
import { scoreOf } from '../src/grader/score.ts';
import { gradesOf } from './support/grade-receiver.ts';

/** The faults, and further probes, that a probe needs to fail. By default a fault has the probe's name. */
const FAULTS: Readonly<Record<string, { faults?: string[]; after?: string[] }>> = {
  'changed-id': { faults: ['forged'] },
  'changed-timestamp': { faults: ['forged'] },
  'changed-body': { faults: ['forged'] },
  'replay-race': { faults: ['replay-race', 'race'] },
  'lost-answer-retry': { faults: ['retry'] },
  'no-effect-of-refused': { after: ['forged'] },
  'never-404': { after: ['forged'] },
};
/** So that a busy machine makes no difference. */
const PATIENT = {
  retryForMs: 60_000,
  effectsWithinMs: 60_000,
  acknowledgeWithinMs: 60_000,
  restartWithinMs: 60_000,
};
const binding = PROBES.filter(({ weight }) => weight > 0);

describe('a receiver with one fault fails the probe for it', () => {
  test.each(binding.map(({ id }) => [id]))('%s', async (id) => {
    const { faults = [id], after = [] } = FAULTS[id] ?? {};
    const grades = await gradesOf(faults, [id, ...after]);
    expect(grades.find(({ probe }) => probe.id === id)).toMatchObject({ result: 'fail' });
    expect(scoreOf(grades).points).toBeLessThan(100);
  });
});

test('a receiver without faults gets 100 points', async () => {
  const grades = await gradesOf([], undefined, PATIENT);
  expect(grades.filter(({ result }) => result === 'fail' || result === 'skipped')).toEqual([]);
  expect(scoreOf(grades).points).toBe(100);
});

test('no handler runs unless it is allowed', async () => {
  const grades = await gradesOf([], undefined, {
    ...PATIENT,
    runHandlers: false,
    effectsUrl: undefined,
  });
  const skipped = grades.filter(({ result }) => result === 'skipped').map(({ saw }) => saw);
  expect(new Set(skipped)).toEqual(new Set(['needs --run-handlers']));
  expect(scoreOf(grades)).toMatchObject({ points: 100, skipped: skipped.length });
});

test('where every delivery is refused, refusals show nothing', async () => {
  const grades = await gradesOf(['authentic']);
  expect(scoreOf(grades).points).toBeLessThan(10);
});
