import type { DeadLetters } from './dead-letters/dead-letter.ts';
import type { QueueJobs } from './queue-jobs.ts';
import type { Store } from './store/store.ts';

/** A problem with a server as the store of a receiver. `doctor` prints it. */
export interface StoreProblem {
  /** `bad` makes `doctor` fail and `status` urgent: deliveries are refused or lost. `warn` does neither. */
  readonly result: 'warn' | 'bad';
  /** What is wrong: one or more sentences. */
  readonly text: string;
  /** What to do: one or more sentences. */
  readonly fix: string;
}

/** A server's name and version, and its problems as the store of a receiver. */
export interface StoreReport {
  /** The name and the version of the server, such as `Redis 7.2.4`. */
  readonly server: string;
  /** Empty if all is well. */
  readonly problems: readonly StoreProblem[];
}

/** What the command line passes to the function that a module exports. */
export interface StoreModuleOptions {
  /** The value of `--prefix`; `undefined` without the flag. */
  readonly prefix: string | undefined;
  /**
   * Whether the command only reads: `true` for `status`, `doctor`, and the lists of dead letters, for
   * example. The command line calls nothing that writes then, not even `ping`. So open the store
   * without creating tables, and with a user or a mode that can't write, if there is one. It is `false`
   * for `erase` and `redrive`, even for a dry run.
   */
  readonly readOnly: boolean;
}

/** What a module passed as `--store ./my-store.mjs` provides to the command line. */
export interface StoreModule {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
  /** The jobs of a queue, for `erase`. */
  readonly jobs?: QueueJobs | undefined;
  /**
   * Asks the server about itself, and writes nothing. `doctor` prints what it resolves with, and `status` says that the
   * store is down if it rejects. Without it, they read a dead letter.
   */
  readonly inspect?: (() => Promise<StoreReport>) | undefined;
  /** Called when the command has ended. */
  readonly close?: (() => unknown) | undefined;
}

/**
 * The default export of a module for `--store`: a `StoreModule`, or a function that returns one or a
 * promise of one.
 * @example
 * // my-store.ts
 * const open: StoreModuleExport = ({ prefix, readOnly }) => ({ store, deadLetters, close: () => db.close() });
 * export default open;
 */
export type StoreModuleExport =
  StoreModule | ((options: StoreModuleOptions) => StoreModule | Promise<StoreModule>);
