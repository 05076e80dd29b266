import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import {
  type DeadLetter,
  type HandlerContext,
  type Outcome,
  type QueuedDelivery,
  WebhookError,
  type WorkerOptions,
} from '../../src/index.ts';
import {
  createJobProcessor,
  type LeasedJob,
  LeasedJobRun,
  type WorkerJob,
} from '../../src/stores.ts';
import { bytes, NOW, SECONDS, STARTED } from '../support.ts';
import { observedWorker } from './observed.ts';

describe('the attempts of a job', () => {
  const queued = (payload: unknown, more: Partial<QueuedDelivery> = {}): QueuedDelivery => ({
    ...{ webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW },
    body: Buffer.from(bytes(JSON.stringify(payload))).toString('base64'),
    ...more,
  });

  /** One run of a job, and what the hooks were called with. */
  async function attempt(
    delivery: QueuedDelivery,
    options: WorkerOptions<never, never> = {},
    job: WorkerJob = {},
  ) {
    const { outcomes, errors, process } = observedWorker(options);
    const result = await process(delivery, job);
    const [outcome = {} as Outcome] = outcomes;
    return { result, outcome, errors };
  }
  const throwing = (error: Error) => ({ on: { 'call:started': () => Promise.reject(error) } });

  /** The context of a handler that runs with this signal, after it has ended. */
  async function contextOf(delivery: QueuedDelivery, job: WorkerJob = {}) {
    const contexts: HandlerContext[] = [];
    const keep = (_event: unknown, context: HandlerContext) => void contexts.push(context);
    await attempt(delivery, { onUnhandled: keep }, job);
    const [context] = contexts;
    return { context, signal: context?.signal };
  }

  describe('the outcome of a job', () => {
    it('has the names that the receiver found, also if the body cannot be read', async () => {
      const names = { tenant: 'acme', eventName: 'call:started', key: 'k' };
      const { result, outcome } = await attempt(queued(STARTED, { ...names, body: '%' }));
      expect(result).toMatchObject({ status: 'dead', error: { code: 'invalid-payload' } });
      expect(outcome).toMatchObject({ outcome: 'dead-lettered', attemptsLeft: 0, ...names });
    });

    it('has nothing that its job does not have', async () => {
      const { outcome } = await attempt(queued({ any: 'thing' }), {}, { isLastAttempt: true });
      expect(Object.keys(outcome).sort()).toEqual([
        ...['attempt', 'durationMs', 'lagMs', 'outcome', 'queued', 'source', 'status', 'webhookId'],
      ]);
    });

    it('has no attempts left if the queue says that it was the last, and deadLetter fails', async () => {
      const deadLetter = () => Promise.reject(new Error('disk full'));
      const options = { ...throwing(new Error('v1.2 is gone.')), deadLetter };
      const { result, outcome } = await attempt(queued(STARTED), options, { isLastAttempt: true });
      expect(outcome.attemptsLeft).toBe(0);
      expect(result).toMatchObject({
        status: 'retry',
        error: {
          message:
            'The handler failed: Error: v1.2 is gone. The deadLetter sink failed: Error: disk full',
        },
      });
    });

    it('has no attempts left to tell of if only the queue knows', async () => {
      const { outcome } = await attempt(queued(STARTED), throwing(new Error('no')), {
        isLastAttempt: false,
      });
      expect(outcome).not.toHaveProperty('attemptsLeft');
    });

    it('has its own time, and that of the handler', async () => {
      jest.useFakeTimers();
      jest.advanceTimersByTime(60_000); // the worker runs for a while
      const on = {
        'call:started': () => {
          jest.advanceTimersByTime(5);
        },
      };
      const { outcome } = await attempt(queued(STARTED), { on });
      jest.useRealTimers();
      expect(outcome).toMatchObject({ durationMs: 5, handlerMs: 5 });
    });
  });

  describe('a job that was abandoned', () => {
    const abandonReason = new Error('The worker crashed.');

    it('is reported with the reason, as an error of its handler', async () => {
      const { errors, result } = await attempt(queued(STARTED), {}, { abandonReason });
      expect(result).toMatchObject({ error: { code: 'handler-failed' } });
      expect(errors).toMatchObject([{ error: abandonReason, info: { source: 'handler' } }]);
    });

    it('is reported as invalid if its body cannot be read', async () => {
      const { result } = await attempt(queued(STARTED, { body: '%' }), {}, { abandonReason });
      expect(result).toMatchObject({ status: 'dead', error: { code: 'invalid-payload' } });
    });
  });

  it('an error of a handler is one of the handler, whatever its code', async () => {
    const error = new WebhookError('invalid-payload', 'The CRM refused it.');
    const { result } = await attempt(queued(STARTED), throwing(error));
    expect(result).toMatchObject({ status: 'retry', error: { code: 'handler-failed' } });
  });

  describe('the context of a job', () => {
    it('has the key of the event, or else that of the queue', async () => {
      const keys = [];
      for (const delivery of [queued(STARTED, { key: 'k' }), queued({ n: 1 }, { key: 'k' })])
        keys.push((await contextOf(delivery)).context?.key);
      expect(keys).toEqual(['call-1:call:started', 'k']);
    });

    it('has a signal that is aborted with that of the job, and not without it', async () => {
      expect((await contextOf(queued(STARTED))).signal?.aborted).toBe(false);
      const { signal: aborted } = await contextOf(queued(STARTED), { signal: AbortSignal.abort() });
      expect(aborted?.aborted).toBe(true);
      const controller = new AbortController();
      const { signal } = await contextOf(queued(STARTED), { signal: controller.signal });
      controller.abort(); // the handler has ended
      expect(signal?.aborted).toBe(false);
    });
  });
});

const DOCS = /\/queues\.html#what-they-promise$/;

/** Writes to an engine that refuses everything before `refusesUntil`, in milliseconds. */
function writing(
  { refusesUntil = Infinity, expiresIn }: { refusesUntil?: number; expiresIn?: number },
  stop = new AbortController(),
) {
  const times: number[] = [];
  const startedAt = performance.now();
  const log = collectingLogger();
  const write = () => {
    const now = Math.round(performance.now() - startedAt);
    times.push(now);
    if (now >= refusesUntil) return Promise.resolve();
    return Promise.reject(new Error('no connection, said +4930901820'));
  };
  const job = {
    ...{ delivery: DELIVERY, attempt: 1, isLastAttempt: false, expiresIn },
    ...{ complete: write, retry: write, moveToDead: write, release: () => Promise.resolve() },
  };
  const error = new WebhookError('handler-failed', 'no');
  const process = () => Promise.resolve({ status: 'retry', error } as const);
  const done = new LeasedJobRun(job, process, log).run(stop.signal);
  const lines = () => log.entries.map(({ level, message }) => `${level} ${message}`);
  return { times, stop, done, lines, log };
}

describe('a result that the queue refuses', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is written again with a growing delay; a short outage is not logged', async () => {
    await jest.advanceTimersByTimeAsync(60_000); // the worker runs for a while
    const { times, done, lines } = writing({ refusesUntil: 4_000 });
    await jest.advanceTimersByTimeAsync(60_000);
    await done;
    expect(times).toEqual([0, 250, 750, 1_750, 3_750, 7_750]);
    expect(lines()).toEqual([]);
  });

  it('is logged once in a long outage, without personal data, and once when it is written', async () => {
    const { times, done, lines, log } = writing({ refusesUntil: 60_000 });
    await jest.advanceTimersByTimeAsync(50_000);
    const refusal =
      'warn call-webhooks: the queue did not accept the result of a job: Error: no connection, said [redacted]. The worker tries again until the queue accepts it or the worker stops.';
    expect(lines()).toEqual([refusal]);
    await jest.advanceTimersByTimeAsync(20_000);
    await done;
    expect(log.entries[0]?.fields).toMatchObject({ docs: expect.stringMatching(DOCS) });
    expect(lines()).toEqual([
      refusal,
      'info call-webhooks: the queue accepted the result of the job after retrying.',
    ]);
    expect(times.at(-1)! - times.at(-2)!).toBe(4_000);
  });

  it('is written once more when the worker stops, and the loss is logged', async () => {
    const { times, stop, done, lines } = writing({});
    await jest.advanceTimersByTimeAsync(10_000);
    const before = times.length;
    stop.abort();
    await done;
    expect(times).toHaveLength(before + 1);
    expect(lines()).toHaveLength(2);
    expect(lines()[1]).toMatch(/^warn .* never accepted the result .* The job will run again\.$/);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is given up when the lease expires', async () => {
    const { times, done, lines } = writing({ expiresIn: 10_000 });
    await jest.advanceTimersByTimeAsync(10_000);
    await done;
    expect(times.at(-1)).toBeLessThan(10_000);
    expect(lines()).toHaveLength(2);
  });

  it('is not logged if the lease expires in a short outage', async () => {
    const { done, lines } = writing({ expiresIn: 2_000 });
    await jest.advanceTimersByTimeAsync(2_000);
    await done;
    expect(lines()).toEqual([]);
  });

  it('leaves no listener on the signal of the worker', async () => {
    const stop = new AbortController();
    const removed = jest.spyOn(stop.signal, 'removeEventListener');
    const added = jest.spyOn(stop.signal, 'addEventListener');
    const { done } = writing({ refusesUntil: 10_000 }, stop);
    await jest.advanceTimersByTimeAsync(20_000);
    await done;
    const names = (calls: readonly (readonly unknown[])[]) => calls.map(([name]) => name);
    expect(names(removed.mock.calls)).toEqual(names(added.mock.calls));
    expect(added.mock.calls.length).toBeGreaterThan(2);
  });
});

const DELIVERY: QueuedDelivery = {
  webhookId: 'id-1',
  timestamp: SECONDS,
  receivedAt: NOW,
  body: Buffer.from(bytes(JSON.stringify(STARTED))).toString('base64'),
};

/** A processor whose handler completes its job in a transaction, and what becomes of its failures. */
function processor(handle: (context: HandlerContext) => unknown) {
  const letters: DeadLetter[] = [];
  const logger = collectingLogger();
  const process = createJobProcessor({
    logger,
    deadLetter: (letter) => void letters.push(letter),
    on: { 'call:started': (_event, context) => handle(context) },
  });
  return { process, letters, logger };
}

describe('completeIn in a worker', () => {
  it('says when the queue is in no database that a transaction could reach', async () => {
    let error: unknown;
    const { process } = processor(({ completeIn }) => {
      try {
        void completeIn({});
      } catch (thrown) {
        error = thrown;
      }
    });
    expect(await process(DELIVERY)).toMatchObject({ status: 'retry' });
    expect(error).toMatchObject({ code: 'invalid-options' });
    expect(String(error)).toContain('Use pgBossQueue or sqliteQueue, or pass context.key');
  });

  it.each<[string, boolean]>([
    ['the engine can not be asked', true],
    ['the job was lost', false],
  ])('leaves a job to its engine when %s, in the last attempt as well', async (_why, isHeld) => {
    const { process, letters } = processor(({ completeIn }) => completeIn('tx'));
    const result = await process(DELIVERY, {
      isLastAttempt: true,
      transaction: {
        completeIn: () => isHeld,
        isCompleted: () => Promise.reject(new Error('the connection was lost')),
      },
    });
    expect(result.status).toBe('retry');
    expect(letters).toEqual([]);
  });

  it('asks until the engine answers, writes nothing for a job that is done, and retries one that is not', async () => {
    for (const isDone of [true, false]) {
      const { process } = processor(({ completeIn }) => completeIn('tx'));
      let refusals = 2;
      const isCompleted = jest.fn(() =>
        refusals-- > 0 ? Promise.reject(new Error('down')) : Promise.resolve(isDone),
      );
      const written: string[] = [];
      const note = (what: string) => () => Promise.resolve(written.push(what));
      const job: LeasedJob = {
        delivery: DELIVERY,
        attempt: 1,
        isLastAttempt: false,
        transaction: { completeIn: (tx) => Promise.resolve(tx === 'tx'), isCompleted },
        complete: note('complete'),
        retry: note('retry'),
        moveToDead: note('dead'),
        release: note('release'),
      };
      const run = new LeasedJobRun(job, process, collectingLogger());
      await run.run(new AbortController().signal);
      expect(isCompleted).toHaveBeenCalledTimes(3);
      expect(written).toEqual(isDone ? [] : ['retry']);
    }
  });
});
