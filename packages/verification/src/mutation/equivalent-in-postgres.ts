import { FASTER } from './reasons.ts';

/** The changes of the Postgres package that do no harm, as `EQUIVALENT` has them. */
export const IN_POSTGRES = {
  'packages/postgres/src/client.ts': { 'cause !== undefined → true': FASTER },
  'packages/postgres/src/dead-letters.ts': {
    'row?.count → row.count': 'an aggregate always gives a row',
  },
  'packages/postgres/src/prepared.ts': { 'name === undefined → true': FASTER },
  'packages/postgres/src/store-calls.ts': { 'inner !== undefined → true': FASTER },
};
