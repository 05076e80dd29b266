import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ALL_MUTANTS } from '../src/mutants/all-mutants.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

// `npm run mutants` takes minutes. That a mutant no longer fits the code is seen here at once.
test.each(ALL_MUTANTS)('the mutant "$name" fits the code', ({ edits }) => {
  for (const { file, from } of edits)
    expect(readFileSync(root + file, 'utf8').split(from)).toHaveLength(2);
});
