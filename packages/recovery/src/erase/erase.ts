import { eventKey } from '@call-webhooks/core';
import { callHook, safeLogger, tenantKey, withRedactedIds } from '@call-webhooks/core/internal';
import { persistently } from '../store-calls.ts';
import {
  checkErase,
  type EraseMatch,
  type EraseOptions,
  type EraseResult,
  type EraseSettings,
} from './options.ts';
import { outcomesOf, type RowFilter } from './outcomes.ts';
import { foundJobs, foundLetters, type Found, type FoundJob } from './search.ts';

/** The next pass finds what moved during a search, such as a job between two runs. */
const MAX_PASSES = 3;
/** How long a dead letter stays claimed if the erasure dies with it; milliseconds. */
const CLAIM_MS = 10_000;
const CALL_EVENTS = ['call:started', 'call:completed'];

/** What an erasure has counted before it begins. */
export const nothingErased = (): EraseResult => ({
  ...{ deadLetters: 0, deadJobs: 0, doneJobs: 0, waitingJobs: 0, outcomes: 0, keys: 0 },
  ...{ running: 0, leftWaiting: 0 },
});

/**
 * Erases the data of a person, a call, a tenant or a period: dead letters, dead and finished jobs, and outcomes. With
 * `loseWaiting`, it also erases jobs that are waiting to run. With `forgetKeys`, it also erases the keys by which the
 * store and the queue recognize duplicates. Jobs that are running are counted and stay.
 *
 * Outcomes and keys are erased first, and bodies last, so that an interrupted erasure finds the same events when you
 * run it again. A store call that fails is retried for about half a minute. The logger gets one line at the end, also
 * if the erasure failed.
 *
 * It cannot reach what a server keeps elsewhere: append-only files, write-ahead logs, replicas and backups.
 * @throws WebhookError `invalid-options`. It also rejects with the error of a store call that failed after all
 *   retries, and with the reason of the signal.
 * @example
 * const { deadLetters, running } = await erase({ contains: ['+15550104477'], by: 'ops@example.com', deadLetters, store });
 */
export async function erase(options: EraseOptions): Promise<EraseResult> {
  const erasure = new Erasure(checkErase(options));
  return erasure.run();
}

class Erasure {
  readonly #settings: EraseSettings;
  readonly #result = nothingErased();
  #checked = 0;

  constructor(settings: EraseSettings) {
    this.#settings = settings;
  }

  async run(): Promise<EraseResult> {
    let hasEnded = false;
    try {
      for (let pass = 1; pass <= MAX_PASSES && (await this.#pass(pass === 1)); pass++);
      hasEnded = true;
    } finally {
      if (!this.#settings.dryRun) this.#log(hasEnded);
    }
    return { ...this.#result };
  }

  /** @returns whether anything was erased, so that another pass may find more */
  async #pass(isFirst: boolean): Promise<boolean> {
    const { dryRun, loseWaiting } = this.#settings;
    Object.assign(this.#result, { running: 0, leftWaiting: 0 });
    const looked = () => this.#looked();
    const letters = await foundLetters(this.#settings, looked);
    const jobs = await foundJobs(this.#settings, looked);
    const canErase = ({ state }: FoundJob) =>
      state !== 'running' && (state !== 'waiting' || loseWaiting);
    const erased = [...letters, ...jobs.filter(canErase)];

    const before = { ...this.#result };
    if (isFirst || erased.length > 0) await this.#eraseTraces(erased);
    for (const letter of letters) {
      this.#settings.signal?.throwIfAborted();
      await this.#eraseLetter(letter);
    }
    for (const job of jobs) {
      this.#settings.signal?.throwIfAborted();
      await this.#eraseJob(job, canErase(job));
    }
    if (dryRun) return false;
    const { running: _running, leftWaiting: _left, ...counts } = this.#result;
    return Object.entries(counts).some(
      ([name, count]) => count > before[name as keyof EraseResult],
    );
  }

  /** The outcomes and the keys of what will be erased. */
  async #eraseTraces(erased: readonly Found[]): Promise<void> {
    const { store, queues, callIds, tenant, before, matchers, forgetKeys, dryRun, signal } =
      this.#settings;
    const calls = new Set(callIds && !matchers ? callIds : []);
    const keys = new Set<string>();
    for (const { callId, key } of erased) {
      if (callId !== undefined) calls.add(callId);
      if (key !== undefined) keys.add(key);
    }
    const isNarrow = callIds !== undefined || matchers !== undefined;
    const filter: RowFilter = isNarrow
      ? { calls, keys, tenant, before: matchers ? undefined : before }
      : { tenant, before };
    const outcomes = outcomesOf(store?.log, this.#settings);
    if (forgetKeys) {
      for (const key of await outcomes.keysOf(filter)) keys.add(key);
      for (const callId of calls)
        for (const eventName of CALL_EVENTS) {
          const key = eventKey({ eventName, callId });
          const owner = tenant ?? erased.find((one) => one.callId === callId)?.tenant;
          if (key !== undefined) keys.add(tenantKey(owner, key));
        }
    }
    signal?.throwIfAborted();
    this.#result.outcomes += await (dryRun ? outcomes.count(filter) : outcomes.erase(filter));
    if (!forgetKeys || dryRun) return;
    for (const some of inChunks([...keys])) {
      const forget = store?.forget?.bind(store);
      if (forget)
        this.#result.keys += await persistently(
          'forget() of the store',
          () => forget(some),
          this.#settings,
        );
      for (const queue of queues)
        this.#result.keys += await persistently(
          'forget() of the jobs',
          () => queue.forget(some),
          this.#settings,
        );
    }
  }

  async #eraseLetter(letter: Found): Promise<void> {
    const { deadLetters, dryRun } = this.#settings;
    const { id } = letter;
    if (!deadLetters) return;
    const ask = <T>(method: string, call: () => Promise<T>) =>
      persistently(`${method}() of the store of dead letters`, call, this.#settings);
    let result: EraseMatch['result'] = 'erased';
    if (dryRun) result = letter.isClaimed ? 'running' : 'erased';
    else {
      const token = crypto.randomUUID();
      const claim = { token, leaseMs: CLAIM_MS };
      const claimed = await ask('claim', () => deadLetters.claim(id, claim));
      const isErased = claimed && (await ask('settle', () => deadLetters.settle(id, token)));
      if (!isErased) {
        if (!(await ask('get', () => deadLetters.get(id)))) return; // it was removed meanwhile
        result = 'running';
      }
    }
    this.#result[result === 'erased' ? 'deadLetters' : 'running'] += 1;
    this.#tell({ where: 'dead letters', state: 'dead', result, ...shown(letter) });
  }

  async #eraseJob(job: FoundJob, canErase: boolean): Promise<void> {
    const { id, queue, state } = job;
    let result: EraseMatch['result'] = 'erased';
    if (!canErase || state === 'running') result = state === 'running' ? 'running' : 'left waiting';
    else if (!this.#settings.dryRun) {
      let failures = 0;
      const isErased = await persistently('erase() of the jobs', () => queue.erase(id, state), {
        ...this.#settings,
        onRetry: (retry) => {
          failures += 1;
          return this.#settings.onRetry?.(retry);
        },
      });
      // The call that failed may have erased it, and only its answer was lost.
      if (!isErased && failures === 0) return; // it moved on: the next pass finds it
    }
    const erased = { dead: 'deadJobs', done: 'doneJobs', waiting: 'waitingJobs' } as const;
    if (result === 'running') this.#result.running += 1;
    else if (result === 'left waiting') this.#result.leftWaiting += 1;
    else if (state !== 'running') this.#result[erased[state]] += 1;
    this.#tell({ where: 'jobs', state, result, ...shown(job) });
  }

  #looked(): void {
    this.#checked += 1;
    if (this.#checked % 100 === 0) this.#tell();
  }

  #tell(match?: EraseMatch): void {
    const { onProgress } = this.#settings;
    if (!onProgress) return;
    callHook(onProgress, { ...this.#result, checked: this.#checked, ...(match && { match }) });
  }

  #log(hasEnded: boolean): void {
    const { by, logger } = this.#settings;
    const { running, leftWaiting, ...erased } = this.#result;
    const what = Object.entries(erased)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => counted(count, NAMES[name as keyof typeof erased]))
      .join(', ');
    const left = [
      running > 0 && `${String(running)} running`,
      leftWaiting > 0 && `${String(leftWaiting)} waiting`,
    ].filter((part) => part !== false);
    const end = hasEnded ? '' : ' It did not end: run it again.';
    safeLogger(logger).info(
      { by, ...this.#result, ended: hasEnded },
      `call-webhooks: ${by} erased ${what || 'nothing'}${left.length > 0 ? `; left alone: ${left.join(', ')}` : ''}.${end}`,
    );
  }
}

const NAMES = {
  deadLetters: 'dead letter',
  deadJobs: 'dead job',
  doneJobs: 'finished job',
  waitingJobs: 'waiting job',
  outcomes: 'outcome',
  keys: 'key',
} as const;

const counted = (count: number, name: string) =>
  `${String(count)} ${name}${count === 1 ? '' : 's'}`;

/** What may be shown of an event. */
function shown({ id, at, eventName, tenant, callId, values }: Found) {
  const ids = withRedactedIds({ eventName, tenant, callId, webhookId: undefined });
  return {
    ...{ id, at },
    ...(ids.eventName !== undefined && { eventName: ids.eventName }),
    ...(ids.tenant !== undefined && { tenant: ids.tenant }),
    ...(ids.callId !== undefined && { callId: ids.callId }),
    ...(values && { values }),
  };
}

/** A store takes so many keys in one call. */
const CHUNK = 500;

function* inChunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += CHUNK) yield items.slice(at, at + CHUNK);
}
