import { GROUP_MUTANTS } from './group-mutants.ts';
import type { Mutant } from './mutant.ts';
import { QUEUE_MUTANTS } from './queue-mutants.ts';
import { TENANT_MUTANTS } from './tenant-mutants.ts';
import { TRANSACTION_MUTANTS } from './transaction-mutants.ts';

/** What `check --deep` says about a receiver with a mutant. */
export interface SeenByCheck {
  readonly probe: string;
  /** A note costs no points, as the interface does not bind the receiver there. */
  readonly as: 'fail' | 'note';
}

/** The mutants that show from outside, each with the probe that has to notice. */
export const SEEN_BY_CHECK: Readonly<Record<string, SeenByCheck>> = {
  'mark before run': { probe: 'retry-after-failure', as: 'fail' },
  'a failure is remembered as done': { probe: 'retry-after-failure', as: 'fail' },
  'timestamps checked against the past only': { probe: 'future', as: 'fail' },
  'compare what base64 decodes to': { probe: 'respelled-signature', as: 'fail' },
  'timestamps read leniently': { probe: 'timestamp-exponent', as: 'note' },
  'joined headers accepted': { probe: 'joined-ids', as: 'note' },
  '404 for unknown events': { probe: 'unknown-event', as: 'fail' },
  'an unknown event is an error': { probe: 'unknown-event', as: 'note' },
};

const namesOf = (mutants: readonly Mutant[]) => mutants.map(({ name }) => name);

/** The other mutants, and why requests and effects can't show them. */
export const NOT_SEEN_BY_CHECK: readonly (readonly [why: string, names: readonly string[]])[] = [
  [
    'it takes longer than the check: a minute for a lease, five for a webhook id',
    [
      'release without a token',
      'no renewal of leases',
      'leases renewed for ever',
      'a replay memory of five minutes',
    ],
  ],
  [
    'the store has to fail, the clock to be set, or the process to be told to stop',
    ['fail open', 'leases by the wall clock', 'a shutdown that goes on admitting'],
  ],
  [
    'dead letters are behind the receiver',
    ['a dead letter is remembered as handled', 'a failed dead-letter sink counts as done'],
  ],
  ['the interface promises no order of handlers (`oneAtATime`)', namesOf(GROUP_MUTANTS)],
  ['jobs of a queue are behind the receiver', namesOf(QUEUE_MUTANTS)],
  [
    'a body that is not UTF-8 is refused later anyway',
    ['the body decoded to text before the HMAC'],
  ],
  ['it takes two tenants', namesOf(TENANT_MUTANTS)],
  ["the handler's own transaction has to fail", namesOf(TRANSACTION_MUTANTS)],
];

/** The tables of docs/evidence/graded-mutants.md, as lines of Markdown. */
export const gradedMutantsTable = (): readonly string[] => [
  '| mutant | probe | result |',
  ...Object.entries(SEEN_BY_CHECK).map(
    ([name, { probe, as }]) => `| ${name} | \`${probe}\` | ${as === 'fail' ? 'fails' : 'note'} |`,
  ),
  '| mutants | not visible, because |',
  ...NOT_SEEN_BY_CHECK.map(([why, names]) => `| ${names.join('; ')} | ${why} |`),
];
