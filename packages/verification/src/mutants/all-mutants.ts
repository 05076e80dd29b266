import { EVENT_MUTANTS } from './event-mutants.ts';
import { GROUP_MUTANTS } from './group-mutants.ts';
import type { Mutant } from './mutant.ts';
import { QUEUE_MUTANTS } from './queue-mutants.ts';
import { REQUEST_MUTANTS } from './request-mutants.ts';
import { TENANT_MUTANTS } from './tenant-mutants.ts';
import { TRANSACTION_MUTANTS } from './transaction-mutants.ts';

/** All named mutants. */
export const ALL_MUTANTS: readonly Mutant[] = [
  ...EVENT_MUTANTS,
  ...GROUP_MUTANTS,
  ...QUEUE_MUTANTS,
  ...REQUEST_MUTANTS,
  ...TENANT_MUTANTS,
  ...TRANSACTION_MUTANTS,
];
