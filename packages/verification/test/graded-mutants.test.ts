import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ALL_MUTANTS } from '../src/mutants/all-mutants.ts';
import {
  gradedMutantsTable,
  NOT_SEEN_BY_CHECK,
  SEEN_BY_CHECK,
} from '../src/mutants/graded-mutants.ts';

const DOC = new URL('../../../docs/evidence/graded-mutants.md', import.meta.url);

test('each mutant is seen by a probe, or there is a reason why not', () => {
  const listed = [
    ...Object.keys(SEEN_BY_CHECK),
    ...NOT_SEEN_BY_CHECK.flatMap(([, names]) => names),
  ];
  expect(listed.sort()).toEqual(ALL_MUTANTS.map(({ name }) => name).sort());
});

test('the docs have the same tables', () => {
  const rows = readFileSync(DOC, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| -'))
    .map((line) => line.replace(/ +\|/g, ' |'));
  expect(rows).toEqual(gradedMutantsTable());
});
