import type { Grade } from './grade.ts';
import { GROUPS, type GroupId } from './probe.ts';

/** Points from 0 to 100. */
export interface Score {
  /** Absent if nothing was judged. */
  readonly points: number | undefined;
  readonly passed: number;
  readonly failed: number;
  readonly notes: number;
  readonly skipped: number;
}

/**
 * The share of the weights that passed, rounded down, so that 100 means no failure. What was skipped does
 * not count, nor do notes.
 */
export function scoreOf(grades: readonly Grade[]): Score {
  const weight = (wanted: Grade['result']) =>
    grades
      .filter(({ result }) => result === wanted)
      .reduce((sum, { probe }) => sum + probe.weight, 0);
  const count = (wanted: Grade['result']) =>
    grades.filter(({ result }) => result === wanted).length;
  const [good, bad] = [weight('pass'), weight('fail')];
  return {
    points: good + bad === 0 ? undefined : Math.floor((100 * good) / (good + bad)),
    passed: count('pass'),
    failed: count('fail'),
    notes: count('note'),
    skipped: count('skipped'),
  };
}

/** The grades of each group that has some. */
export const byGroup = (
  grades: readonly Grade[],
): readonly (readonly [id: GroupId, title: string, grades: readonly Grade[]])[] =>
  (Object.keys(GROUPS) as GroupId[])
    .map((id) => [id, GROUPS[id], grades.filter(({ probe }) => probe.group === id)] as const)
    .filter(([, , own]) => own.length > 0);
