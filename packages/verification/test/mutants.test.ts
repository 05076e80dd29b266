import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { EVENT_MUTANTS } from '../src/mutants/event-mutants.ts';
import { GROUP_MUTANTS } from '../src/mutants/group-mutants.ts';
import { QUEUE_MUTANTS } from '../src/mutants/queue-mutants.ts';
import { REQUEST_MUTANTS } from '../src/mutants/request-mutants.ts';
import { TENANT_MUTANTS } from '../src/mutants/tenant-mutants.ts';
import { TRANSACTION_MUTANTS } from '../src/mutants/transaction-mutants.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

// `npm run mutants` takes minutes. That a mutant no longer fits the code is seen here at once.
test.each([
  ...EVENT_MUTANTS,
  ...GROUP_MUTANTS,
  ...QUEUE_MUTANTS,
  ...REQUEST_MUTANTS,
  ...TENANT_MUTANTS,
  ...TRANSACTION_MUTANTS,
])('the mutant "$name" fits the code', ({ edits }) => {
  for (const { file, from } of edits)
    expect(readFileSync(root + file, 'utf8').split(from)).toHaveLength(2);
});
