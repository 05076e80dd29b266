import { memoryStore, type Logger, type Store } from '@call-webhooks/core';
import { loggedError, waitAtMost } from '@call-webhooks/core/internal';
import type { Task } from './api-types.ts';
import { RequestError } from './http/answer.ts';
import { inTime, logFailure } from './store-calls.ts';

/** How long a process that died keeps others from starting a task; milliseconds. */
const LEASE_MS = 15_000;
/** How often a task is written, and its stop request read; milliseconds. */
const TICK_MS = 1_000;
const STORE_MS = 5_000;

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
  readonly #now: () => number;
  #own: { task: Own; abort: AbortController; ended: Promise<void> } | undefined;
  #isClosed = false;

  /** @param name of the lease and the cursor: `'console/redrive'` */
  constructor(store: TaskStore, name: string, logger: Logger, now: () => number) {
    this.#store = store;
    this.#name = name;
    this.#logger = logger;
    this.#now = now;
  }

  /** The task that runs or ran last. Rejects if the store fails. */
  async read(): Promise<Own | null> {
    if (this.#own?.task.state === 'running') return { ...this.#own.task };
    const task = parsed(await this.#store.loadCursor(this.#name)) as Own | null;
    if (task?.state !== 'running') return task;
    return (await this.#isHeld(task)) ? task : { ...task, state: 'lost' };
  }

  /**
   * Starts a task.
   * @param content what it has besides a `Task`
   * @returns `ended` resolves when it has ended, and never rejects
   * @throws RequestError `already-running`; and rejects if the store fails
   */
  async start(
    by: string | null,
    content: Omit<Own, keyof Task>,
    run: Run<Own>,
  ): Promise<{ ended: Promise<void> }> {
    if (this.#isClosed) throw busy('The console is closing.');
    const token = crypto.randomUUID();
    const now = this.#now();
    const lease = { key: this.#name, token, leaseMs: LEASE_MS };
    const claim = { ...lease, webhookId: token, replayUntil: now + LEASE_MS };
    if ((await this.#store.admit(claim)).status !== 'admitted')
      throw busy('Another one is running. Wait for it, or stop it.');
    const times = { startedAt: now, endedAt: null, savedAt: now, state: 'running' as const };
    const task = { id: token, by, ...times, ...content } as unknown as Own;
    await this.#save(task);
    const abort = new AbortController();
    const ended = this.#run(task, abort, run);
    this.#own = { task, abort, ended };
    return { ended };
  }

  /** Asks whichever process runs it to stop. @returns whether one runs */
  async stop(): Promise<boolean> {
    const task = await this.read();
    if (task?.state !== 'running') return false;
    await this.#store.saveCursor(this.#stopName, task.id);
    if (this.#own?.task.id === task.id) this.#own.abort.abort(); // not only with the next tick
    return true;
  }

  /** Stops what runs here, and starts nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#own?.abort.abort();
    await this.#own?.ended;
  }

  get #stopName(): string {
    return `${this.#name}/stop`;
  }

  async #run(task: Own, abort: AbortController, run: Run<Own>): Promise<void> {
    let heldUntil = performance.now() + LEASE_MS;
    let isHeld = true as boolean; // changed by each tick
    const write = async () => {
      const before = performance.now();
      isHeld = await this.#store.extend(this.#name, task.id, LEASE_MS);
      if (!isHeld) return;
      heldUntil = before + LEASE_MS;
      await this.#save(task);
      if ((await this.#store.loadCursor(this.#stopName)) === task.id) abort.abort();
    };
    /** Goes on while the store fails, but not for longer than its lease. */
    const tick = async () => {
      await this.#try(write());
      if (performance.now() > heldUntil) isHeld = false;
      if (!isHeld) abort.abort();
    };
    const end = new AbortController();
    const ticking = repeat(tick, end.signal);
    try {
      await run(task, abort.signal);
      task.state = 'done';
    } catch (error) {
      task.state = abort.signal.aborted ? 'stopped' : 'failed';
      if (!abort.signal.aborted) task.error = failureText(error);
    }
    end.abort();
    await ticking;
    task.endedAt = this.#now();
    // Another process may have started the next one.
    if (!isHeld) task.state = 'lost';
    else if (await this.#try(this.#save(task))) {
      await this.#try(this.#store.saveCursor(this.#stopName));
      await this.#try(this.#store.release(this.#name, task.id));
    }
  }

  /** Logs what a store fails with. @returns whether it did not */
  async #try(asked: Promise<unknown>): Promise<boolean> {
    try {
      await inTime(asked, STORE_MS, 'The store did not respond');
      return true;
    } catch (error) {
      logFailure(this.#logger, `the state of ${this.#name} was not saved`, error);
      return false;
    }
  }

  async #save(task: Own): Promise<void> {
    task.savedAt = this.#now();
    await this.#store.saveCursor(this.#name, JSON.stringify(task));
  }

  /** A store that cannot tell is believed for as long as a lease lasts. */
  async #isHeld({ savedAt }: Task): Promise<boolean> {
    if (!this.#store.peek) return Math.abs(this.#now() - savedAt) < 2 * LEASE_MS;
    return (await this.#store.peek([this.#name]))[0] === 'running';
  }
}

const busy = (problem: string) => new RequestError('already-running', problem);

function parsed(text: string | undefined): object | null {
  try {
    const task: unknown = JSON.parse(text ?? 'null');
    return typeof task === 'object' ? task : null;
  } catch {
    return null;
  }
}

/** Calls a function each second, one call at a time, until it is told to end. Never rejects. */
async function repeat(tick: () => Promise<void>, end: AbortSignal): Promise<void> {
  const ended = new Promise<void>((resolve) =>
    end.addEventListener('abort', () => {
      resolve();
    }),
  );
  for (;;) {
    await waitAtMost(TICK_MS, ended);
    if (end.aborted) return;
    await tick();
  }
}

/** With the fix for a refused token, which is the likeliest mistake. */
function failureText(error: unknown): string {
  const { text } = loggedError(error);
  const { status } = Object(error) as { status?: unknown };
  return status === 401 ? `${text}. Check the apiToken of the client in reconcile.` : text;
}
