import type { HandlerContext } from '@call-webhooks/core';
import { assertThat } from './assert.ts';
import type { CheckedStore } from './checked-store.ts';
import type { EventModel } from './event-model.ts';

/** How the transaction of a handler with `completeIn` ends, and what the handler makes of it. */
export const TRANSACTION_ENDS = [
  'commit',
  /** It is committed, but the answer to COMMIT never comes, and the handler throws. */
  'lost answer',
  /** The same, and the store can't be reached just then. */
  'cut after commit',
  /** The connection is lost before the COMMIT arrives, and the store can't be reached just then. */
  'cut before commit',
  'roll back',
  /** The handler catches the error of the rollback, and succeeds. */
  'ignored rollback',
] as const;

export type TransactionEnd = (typeof TRANSACTION_ENDS)[number];

/** What a handler does when it runs. */
export type Behaviour = 'ok' | 'fail' | 'slow' | TransactionEnd;
/** How a slow handler ends. */
export type Ending = Exclude<Behaviour, 'slow'>;

const COMMITTED: ReadonlySet<string> = new Set(['commit', 'lost answer', 'cut after commit']);
const CUT: ReadonlySet<string> = new Set(['cut after commit', 'cut before commit']);

export const isTransactionEnd = (text: string): text is TransactionEnd =>
  (TRANSACTION_ENDS as readonly string[]).includes(text);

/** Whether the store commits, and whether the receiver can ask it how the transaction ended. */
export const commits = (end: TransactionEnd) => COMMITTED.has(end);
export const cuts = (end: TransactionEnd) => CUT.has(end);

/** The effects of handlers, in the database of the store. Nothing in it keeps one from being there twice. */
export interface EffectsTable {
  /** Writes an effect in a transaction, and commits it, unless `work` throws or `commit` is false. */
  transact(key: string, work: (tx: unknown) => void, commit: boolean): void;
  /** How many effects of the event are committed. */
  count(key: string): number;
}

/** Has the effect of an event in a transaction with `completeIn`. @throws what a handler would throw */
export function runTransaction(
  table: EffectsTable,
  end: TransactionEnd,
  store: CheckedStore,
  model: EventModel,
  { key = '', completeIn }: HandlerContext,
  token: string,
): void {
  const complete = (tx: unknown) => void completeIn(tx);
  try {
    table.transact(key, complete, commits(end));
    if (commits(end)) model.complete(key, token);
    if (cuts(end)) store.isCut = true;
    if (end !== 'commit') throw new Error(`the transaction: ${end}`);
  } catch (error) {
    if (end !== 'ignored rollback') throw error;
  }
}

/** @throws Violation when an event has its effect without being done, is done without it, or has it twice */
export function checkEffects(
  table: EffectsTable,
  model: EventModel,
  keys: readonly string[],
): void {
  for (const key of keys) {
    const count = table.count(key);
    const expected = model.isDone(key) ? 1 : 0;
    assertThat(count === expected, `${key}: ${String(count)} effects, not ${String(expected)}`);
  }
}
