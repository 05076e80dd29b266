import { memoryStore, WebhookError, type Store } from '@call-webhooks/core';
import type { Effects, OpenedStore } from '../../src/index.ts';

const LEASE_MS = 60_000;

/** A transaction of the database in memory. */
interface Transaction {
  isOpen: boolean;
  /** What is done when it commits. */
  readonly writes: (() => Promise<unknown>)[];
  /** Who holds the lease, by the keys of the events that it completes. */
  readonly completes: Map<string, string>;
}

type CompleteIn = NonNullable<Store['completeIn']>;

/** A store whose transactions are broken, and the promise that it breaks. */
export interface BrokenTransactions {
  wrong: string;
  promise: string;
  breaks(healthy: { completeIn: CompleteIn; memory: Store; client: Transaction }): CompleteIn;
}

/** A store in a database in memory, whose transactions lock the events that they complete. */
export async function openTransactions(
  breaks: BrokenTransactions['breaks'] = ({ completeIn }) => completeIn,
): Promise<OpenedStore & Effects> {
  let time = 1_800_000_000_000;
  const now = () => time;
  const memory = memoryStore({ now });
  const effects: string[] = [];
  const doneBy = new Map<string, string>();
  const locks = new Map<string, Promise<unknown>>();
  /** Each statement on it is committed at once. */
  const client: Transaction = { isOpen: false, writes: [], completes: new Map() };

  /** A call that waits for the transaction that has locked the event. */
  const locked =
    <Args extends unknown[], Result>(call: (key: string, ...args: Args) => Promise<Result>) =>
    async (key: string, ...args: Args) => {
      await locks.get(key);
      return call(key, ...args);
    };

  const completeIn: CompleteIn = async (tx, key, token) => {
    const transaction = tx as Partial<Transaction> | undefined;
    if (!transaction?.isOpen || !transaction.completes || !transaction.writes)
      throw new WebhookError('invalid-options', 'completeIn: this is no open transaction.');
    const { completes, writes } = transaction;
    if (completes.has(key)) return completes.get(key) === token;
    await locks.get(key);
    if (doneBy.has(key)) return doneBy.get(key) === token;
    if (!(await memory.extend(key, token, LEASE_MS))) return false;
    completes.set(key, token);
    writes.push(async () => {
      await memory.complete(key, token);
      doneBy.set(key, token);
    });
    return true;
  };

  return {
    store: {
      ...memory,
      completeIn: breaks({ completeIn, memory, client }),
      admit: async (claim) => locked(() => memory.admit(claim))(claim.key ?? ''),
      complete: locked(memory.complete),
      release: locked(memory.release),
      extend: locked(memory.extend),
    },
    now,
    advance: (ms) => void (time += ms),
    client,
    async transact(work) {
      const tx: Transaction = { isOpen: true, writes: [], completes: new Map() };
      let unlock: () => void = () => undefined;
      const lock = new Promise<void>((resolve) => (unlock = resolve));
      const set = tx.completes.set.bind(tx.completes);
      tx.completes.set = (key, token) => {
        locks.set(key, lock);
        return set(key, token);
      };
      try {
        await work({
          tx,
          write: async (effect) => tx.writes.push(async () => effects.push(effect)),
        });
        for (const write of tx.writes) await write();
      } finally {
        tx.isOpen = false;
        for (const key of tx.completes.keys()) locks.delete(key);
        unlock();
      }
    },
    committed: async (effect) => effects.filter((one) => one === effect).length,
  };
}

export const BROKEN_TRANSACTIONS: readonly BrokenTransactions[] = [
  {
    wrong: 'takes a pool for a transaction',
    promise: 'refuses the pool or client that begins transactions, whose statements are in none',
    breaks:
      ({ completeIn, memory, client }) =>
      (tx, key, token) =>
        tx === client ? memory.complete(key, token) : completeIn(tx, key, token),
  },
  ...(['release', 'extend', 'complete'] as const).map((call): BrokenTransactions => ({
    wrong: `lets an owner ${call} an event that its transaction has completed`,
    promise: 'commits the effect and "done" together',
    breaks({ completeIn, memory }) {
      memory[call] = async () => true;
      return completeIn;
    },
  })),
  {
    wrong: 'completes on a connection of its own',
    promise: 'rolls both back: the lease is held as before',
    breaks:
      ({ memory }) =>
      (_tx, key, token) =>
        memory.complete(key, token),
  },
  {
    wrong: 'completes for whoever has lost the lease',
    promise: 'fences a token that has lost the lease, has released it, or has never held it',
    breaks:
      ({ completeIn }) =>
      async (tx, key, token) =>
        (await completeIn(tx, key, token)) || true,
  },
  {
    wrong: 'takes anything for a transaction',
    promise: 'refuses anything that is not a transaction, with the error invalid-options',
    breaks:
      ({ completeIn }) =>
      (tx, key, token) =>
        (tx as Transaction | undefined)?.isOpen === true && completeIn(tx, key, token),
  },
  {
    wrong: 'takes a transaction that has ended',
    promise: 'refuses a transaction that has ended',
    breaks:
      ({ completeIn, memory }) =>
      (tx, key, token) =>
        (tx as Transaction).isOpen ? completeIn(tx, key, token) : memory.complete(key, token),
  },
  {
    wrong: 'completes an event once, and then tells its owner that the lease is lost',
    promise:
      'may be repeated by the token that did it, in the same transaction and after the commit',
    breaks({ completeIn }) {
      const tokens = new Set<string>();
      return async (tx, key, token) => {
        if (tokens.has(token)) return false;
        tokens.add(token);
        return completeIn(tx, key, token);
      };
    },
  },
  {
    wrong: 'locks no event that its transaction completes',
    promise: 'admits nobody while the transaction is open (committed: true)',
    breaks:
      ({ memory }) =>
      async (tx, key, token) => {
        if (!(await memory.extend(key, token, LEASE_MS))) return false;
        (tx as Transaction).writes.push(() => memory.complete(key, token));
        return true;
      },
  },
  {
    wrong: 'completes before the transaction is committed',
    promise: 'admits nobody while the transaction is open (committed: false)',
    breaks:
      ({ memory }) =>
      (_tx, key, token) =>
        memory.complete(key, token),
  },
  {
    wrong: 'completes for two owners',
    promise: 'lets one of two racing transactions of two owners commit',
    breaks:
      ({ completeIn }) =>
      async (tx, key, token) =>
        (await completeIn(tx, key, token)) || true,
  },
];
