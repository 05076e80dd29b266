import type { Clock } from '@call-webhooks/client';
import { memoryStore, type Logger, type Store } from '@call-webhooks/core';
import { loggedError } from '@call-webhooks/core/internal';
import type { StoreRetry } from '@call-webhooks/recovery';
import { keepLease, persistently } from '@call-webhooks/recovery/internal';
import type { Task } from './api-types.ts';
import { RequestError } from './http/answer.ts';
import { askStore, inTime, logFailure, STORE_MS } from './store-calls.ts';

/** How long a process that died keeps others from starting a task; milliseconds. */
const LEASE_MS = 15_000;
/** How often a task is written, and its stop request read; milliseconds. */
const TICK_MS = 1_000;

/** What a run does: it changes its task as it goes, and ends soon once the signal is aborted. */
type Run<Own> = (task: Own, signal: AbortSignal) => Promise<void>;

/** Where tasks are kept. */
type TaskStore = Pick<Store, 'admit' | 'extend' | 'release' | 'peek'> &
  Required<Pick<Store, 'loadCursor' | 'saveCursor'>>;

const hasCursors = (store: Store): store is Store & TaskStore =>
  store.loadCursor !== undefined && store.saveCursor !== undefined;

/** @returns the store, or without cursors a memory that no other process knows */
export const taskStore = (store: Store): { store: TaskStore; isShared: boolean } =>
  hasCursors(store)
    ? { store, isShared: true }
    : { store: memoryStore() as Store & TaskStore, isShared: false };

/**
 * One task at a time, in whichever process: a lease of the store is its lock, and a cursor has its
 * state, which every process shows and can stop.
 */
export class SharedTask<Own extends Task> {
  readonly #store: TaskStore;
  readonly #name: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  #own: { task: Own; abort: AbortController; ended: Promise<void> } | undefined;
  readonly #closing = new AbortController();

  /** @param name of the lease and the cursor: `'console/redrive'` */
  constructor(store: TaskStore, name: string, logger: Logger, clock: Clock) {
    this.#store = store;
    this.#name = name;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** The task that runs or ran last. @throws RequestError `store-unavailable` */
  async read(): Promise<Own | null> {
    if (this.#own?.task.state === 'running') return { ...this.#own.task };
    return this.#ask(() => this.#readSaved());
  }

  async #readSaved(): Promise<Own | null> {
    const task = parsed(await this.#store.loadCursor(this.#name)) as Own | null;
    if (task?.state !== 'running') return task;
    return (await this.#isHeld(task)) ? task : { ...task, state: 'lost' };
  }

  /**
   * Starts a task.
   * @param content what it has besides a `Task`
   * @returns `ended` resolves when it has ended, and never rejects
   * @throws RequestError `already-running`, `store-unavailable`
   */
  async start(
    by: string | null,
    content: Omit<Own, keyof Task>,
    run: Run<Own>,
  ): Promise<{ ended: Promise<void> }> {
    if (this.#closing.signal.aborted) throw busy('The console is shutting down. Try again.');
    const token = crypto.randomUUID();
    const now = this.#clock.now();
    const lease = { key: this.#name, token, leaseMs: LEASE_MS };
    const claim = { ...lease, webhookId: token, replayUntil: now + LEASE_MS };
    const { status } = await this.#ask(() => this.#store.admit(claim));
    if (status !== 'admitted')
      throw busy('Another one is running. Wait until it has finished, or stop it.');
    const times = { startedAt: now, endedAt: null, savedAt: now, state: 'running' as const };
    const task = { id: token, by, ...times, ...content } as unknown as Own;
    try {
      await this.#ask(() => this.#save(task));
    } catch (error) {
      await this.#try(() => this.#store.release(this.#name, token));
      throw error;
    }
    const abort = new AbortController();
    const ended = this.#run(task, abort, run);
    this.#own = { task, abort, ended };
    return { ended };
  }

  /**
   * Asks whichever process runs it to stop. One that runs here stops also while the store fails.
   * @returns whether one runs
   * @throws RequestError `store-unavailable`
   */
  async stop(): Promise<boolean> {
    const task = await this.read();
    if (task?.state !== 'running') return false;
    if (this.#own?.task.id === task.id) this.#own.abort.abort();
    else await this.#ask(() => this.#store.saveCursor(this.#stopName, task.id));
    return true;
  }

  /** Stops what runs here, and starts nothing any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#own?.abort.abort();
    await this.#own?.ended;
  }

  get #stopName(): string {
    return `${this.#name}/stop`;
  }

  async #run(task: Own, abort: AbortController, run: Run<Own>): Promise<void> {
    const extend = () => this.#store.extend(this.#name, task.id, LEASE_MS);
    const lease = keepLease({
      extend,
      leaseMs: LEASE_MS,
      takenAt: task.startedAt,
      every: TICK_MS,
      clock: this.#clock,
      // Only who holds the lease may write. It goes on while its state cannot be saved.
      onRenewed: () => this.#try(() => this.#share(task, abort)),
      onError: (error) => this.#logFailure(error),
    });
    lease.lost.addEventListener('abort', () => abort.abort());
    try {
      await run(task, abort.signal);
      task.state = 'done';
    } catch (error) {
      task.state = abort.signal.aborted ? 'stopped' : 'failed';
      if (!abort.signal.aborted) task.error = failureText(error);
    }
    await lease.stop();
    task.endedAt = this.#clock.now();
    // Another process may have started the next one.
    if (lease.lost.aborted) task.state = 'lost';
    else await this.#end(task, extend).catch((error: unknown) => this.#logFailure(error));
  }

  /** Saves how a task ended, so that every process shows it, and lets the next one begin. */
  async #end(task: Own, extend: () => Promise<boolean>): Promise<void> {
    const onRetry = ({ error }: StoreRetry) => this.#logFailure(error);
    const persistence = { clock: this.#clock, signal: this.#closing.signal, onRetry };
    const save = async () => {
      const isHeld = await extend();
      if (isHeld) await this.#save(task);
      else task.state = 'lost';
      return isHeld;
    };
    if (!(await persistently('saving the end of a task', save, persistence))) return;
    await this.#store.saveCursor(this.#stopName);
    await this.#store.release(this.#name, task.id);
  }

  #ask<T>(call: () => Promise<T>): Promise<T> {
    return askStore(this.#logger, 'store', call);
  }

  /** Saves how far a task is, and stops it if somebody asked for that. */
  async #share(task: Own, abort: AbortController): Promise<void> {
    await this.#save(task);
    if ((await this.#store.loadCursor(this.#stopName)) === task.id) abort.abort();
  }

  /** Logs what a store fails with. Never rejects. */
  async #try(call: () => Promise<unknown>): Promise<void> {
    try {
      await inTime(call(), STORE_MS, 'The store did not respond');
    } catch (error) {
      this.#logFailure(error);
    }
  }

  #logFailure(error: unknown): void {
    logFailure(this.#logger, `the state of ${this.#name} could not be saved`, error);
  }

  async #save(task: Own): Promise<void> {
    task.savedAt = this.#clock.now();
    await this.#store.saveCursor(this.#name, JSON.stringify(task));
  }

  /** A store that cannot tell is believed for as long as a lease lasts. */
  async #isHeld({ savedAt }: Task): Promise<boolean> {
    if (!this.#store.peek) return Math.abs(this.#clock.now() - savedAt) < 2 * LEASE_MS;
    return (await this.#store.peek([this.#name]))[0] === 'running';
  }
}

const busy = (problem: string) => new RequestError('already-running', problem);

/** What a store has that is no task counts as none. */
function parsed(text: string | undefined): Task | null {
  try {
    const task = Object(JSON.parse(text ?? 'null')) as Partial<Task>;
    return typeof task.id === 'string' && typeof task.state === 'string' ? (task as Task) : null;
  } catch {
    return null;
  }
}

/** With the fix for a refused token, which is the likeliest mistake. */
function failureText(error: unknown): string {
  const { text } = loggedError(error);
  const { status } = Object(error) as { status?: unknown };
  return status === 401 ? `${text}. Check the apiToken of the client in reconcile.` : text;
}
