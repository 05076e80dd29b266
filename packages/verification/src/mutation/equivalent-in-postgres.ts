import { FASTER } from './reasons.ts';

/** The changes of the Postgres package that do no harm, as `EQUIVALENT` has them. */
export const IN_POSTGRES = {
  'packages/postgres/src/client.ts': { 'cause !== undefined → true': FASTER },
  'packages/postgres/src/dead-letters.ts': {
    'row?.count → row.count': 'an aggregate always gives a row',
  },
  'packages/postgres/src/prepared.ts': { 'name === undefined → true': FASTER },
  'packages/postgres/src/store-calls.ts': { 'inner !== undefined → true': FASTER },
  'packages/postgres/src/sweeper.ts': {
    'this.#claims++ → this.#claims--': 'each hundredth one, downwards',
  },
  'packages/postgres/src/transaction-drivers.ts': {
    'kindOf(client)?.startsWith → kindOf(client).startsWith':
      'it is asked for clients of Drizzle alone',
  },
};
