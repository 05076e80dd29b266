import assert from 'node:assert/strict';
import type { DeadLetter, DeadLetters } from '@call-webhooks/core';
import type { DeadJobs, DeadLetterQuery, ListedDeadLetter } from '@call-webhooks/core/stores';
import type { Refusals } from '../refusals.ts';
import { namesOf, type OptionalMembers } from '../optional-members.ts';
import type { Tests } from '../runner.ts';
import type { UnderTest } from '../store/under-test.ts';
import { unique } from '../unique.ts';

export interface OpenedDeadLetters {
  deadLetters: DeadLetters;
  /** The same letters over more connections, if there can be several. Races run over all of them. */
  others?: DeadLetters[];
  /** Moves the clock of the claims forward, or makes them that much older. */
  advance(ms: number): Promise<void> | void;
  /** How what a letter writes can be refused. */
  refusals?: Refusals;
  close?(): Promise<void>;
}

/** What the type `DeadLetters` leaves to a store: each is tested, unless the store says that it has none. */
export type OptionalDeadLettersMember = Exclude<OptionalMembers<DeadLetters>, 'close' | 'keepFor'>;

/** The names of these members. */
export const OPTIONAL_DEAD_LETTERS_MEMBERS = namesOf<OptionalDeadLettersMember>({
  ping: true,
  removeExpired: true,
});

/** Dead letters, and what they can do without. */
export interface DeadLettersUnderTest extends UnderTest<OpenedDeadLetters> {
  /**
   * The optional members of `DeadLetters` that the store lacks. Also, `refusals`: nothing that it needs
   * can refuse to be written, as with letters in memory.
   */
  without?: readonly (OptionalDeadLettersMember | 'refusals')[];
}

/** What a group of contract tests works with. */
export interface DeadLettersTestContext extends Pick<Tests, 'it'> {
  letters(): DeadLetters;
  /** The letters over each of the connections. */
  connections(): DeadLetters[];
  advance(ms: number): Promise<void>;
}

/** The claims of the tests last this long; milliseconds. */
export const LEASE_MS = 60_000;

const START = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A dead letter of an event of its own. */
export function deadLetter(more: Partial<DeadLetter> = {}): DeadLetter {
  const callId = unique('call');
  const eventName = more.eventName ?? 'call:completed';
  return {
    reason: 'handler-failed',
    rawBody: Buffer.from(JSON.stringify({ eventName, callId })),
    webhookId: unique('webhook'),
    timestamp: new Date(START - 2_000),
    eventName,
    callId,
    key: `${callId}:${eventName}`,
    attempt: 3,
    failedAt: new Date(START),
    source: 'webhook',
    error: new Error('the CRM is down'),
    errorText: 'Error: the CRM is down',
    ...more,
  };
}

/** So many milliseconds after the first letter failed. */
export const after = (ms: number): Date => new Date(START + ms);

/** All letters of a query, over all of its pages. */
export async function allLetters(
  from: Pick<DeadLetters | DeadJobs, 'list'>,
  query: DeadLetterQuery,
): Promise<ListedDeadLetter[]> {
  const found: ListedDeadLetter[] = [];
  let cursor: string | undefined;
  do {
    const page = await from.list({ ...query, cursor });
    if (page.cursor !== undefined) assert.equal(page.letters.length, query.limit ?? 100);
    found.push(...page.letters);
    // A cursor that leads back must not keep the test busy for ever.
    assert.ok(
      page.cursor === undefined || page.cursor !== cursor,
      'a page has the cursor of the page before it',
    );
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}
