import {
  memoryStore,
  type HandlerContext,
  type ReceiverOptions,
  type Store,
  type WebhookError,
} from '../src/index.ts';
import { createTestReceiver } from './support.ts';

/** A transaction of the database that `transactionalStore` is in. */
export interface Transaction {
  commit(): Promise<void>;
  marks: (() => Promise<boolean>)[];
}

/** The smallest store with `completeIn`, and transactions that can be committed, or forgotten. */
export function transactionalStore() {
  const calls: string[] = [];
  const memory = memoryStore();
  const store: Store = {
    ...memory,
    admit(claim) {
      calls.push('admit');
      return memory.admit(claim);
    },
    complete(...args) {
      calls.push('complete');
      return memory.complete(...args);
    },
    async completeIn(tx, key, token) {
      calls.push('completeIn');
      if (!(await memory.extend(key, token, 60_000))) return false;
      (tx as Transaction).marks.push(() => memory.complete(key, token));
      return true;
    },
  };
  const begin = (): Transaction => ({
    marks: [],
    async commit() {
      for (const mark of this.marks) await mark();
    },
  });
  return { store, begin, calls };
}

type Handle = (context: HandlerContext, tx: Transaction) => unknown;

/** A receiver whose handler has a transaction, on a store that can complete in it. */
export function transactionalReceiver(
  handle: Handle,
  options: Partial<ReceiverOptions<never, never>> = {},
) {
  const { store, begin, calls } = transactionalStore();
  const attempts: number[] = [];
  const test = createTestReceiver({
    store,
    on: {
      'call:started': (_event: unknown, context: HandlerContext) => {
        attempts.push(context.attempt);
        return handle(context, begin());
      },
    },
    ...options,
  });
  return { ...test, store, calls, attempts };
}

/** Keeps an error that is also thrown. */
export async function thrownBy(call: () => unknown): Promise<WebhookError> {
  try {
    await call();
  } catch (error) {
    return error as WebhookError;
  }
  throw new Error('Nothing was thrown.');
}
