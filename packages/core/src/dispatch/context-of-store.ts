import type { Store } from '../store/store.ts';
import type { HandlerContext } from './context.ts';

/** The context where, as the types say, the store or queue is in no database. */
export interface ContextWithoutCompleteIn extends HandlerContext {
  /** Compiles for no transaction, and throws. */
  completeIn(
    this: void,
    tx: 'completeIn needs postgresStore or sqliteStore, or their queues. Otherwise use context.key.',
  ): Promise<void>;
}

/** The context of a receiver with this store. */
export type ContextOf<S extends Store> = 'completeIn' extends keyof S
  ? [NonNullable<S['completeIn']>] extends [never]
    ? ContextWithoutCompleteIn
    : HandlerContext
  : ContextWithoutCompleteIn;
