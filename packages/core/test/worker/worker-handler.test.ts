import { getEventListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, queuedCall } from '@call-webhooks/contract-tests';
import type { DeadLetter, HandlerContext, QueuedDelivery } from '../../src/index.ts';
import { handlerLogger } from '../../src/report/logger.ts';
import { createJobProcessor, type WorkerJob } from '../../src/stores.ts';
import {
  bytes,
  createTestReceiver,
  createWorkerHandler,
  Lines,
  NOW,
  SECONDS,
  STARTED,
} from '../support.ts';
import { observedWorker } from './observed.ts';

describe('createWorkerHandler', () => {
  const queued = (body: Uint8Array): QueuedDelivery => ({
    webhookId: 'id-1',
    timestamp: SECONDS,
    receivedAt: NOW,
    body: Buffer.from(body).toString('base64'),
  });
  const JOB = queued(bytes(JSON.stringify(STARTED)));
  const logger = new Lines();

  it('runs a queued delivery with its context', async () => {
    const jobs: QueuedDelivery[] = [];
    const { send } = createTestReceiver({
      queue: { enqueue: (job) => Promise.resolve(void jobs.push(job)) },
    });
    await send(STARTED, { webhookId: 'id-9' });
    const seen: [unknown, HandlerContext][] = [];
    const work = createWorkerHandler({
      logger,
      on: {
        'call:started': (event: unknown, context: HandlerContext) =>
          void seen.push([event, context]),
      },
    });
    await work(jobs[0]!, { attempt: 2 });
    const [event, context] = seen[0]!;
    expect(event).toEqual(STARTED);
    expect(context).toMatchObject({
      webhookId: 'id-9',
      attempt: 2,
      key: 'call-1:call:started',
      secretId: undefined,
      queued: true,
      log: handlerLogger(logger),
    });
    expect(Buffer.from(context.rawBody).toString()).toBe(JSON.stringify(STARTED));
  });

  it('rejects with a redacted error, and passes the last failure to deadLetter', async () => {
    const letters: DeadLetter[] = [];
    const boom = new Error('call Ada Lovelace');
    const work = createWorkerHandler({
      logger,
      maxRuns: 2,
      deadLetter: (letter) => void letters.push(letter),
      on: { 'call:started': () => Promise.reject(boom) },
    });
    const job = queued(bytes(JSON.stringify({ ...STARTED, name: 'Ada Lovelace' })));
    const failed = expect.objectContaining({
      code: 'handler-failed',
      message: 'The handler failed: Error: call [redacted]',
    });
    await expect(work(job)).rejects.toEqual(failed);
    expect(letters).toEqual([]);
    await expect(work(job, { attempt: 2 })).rejects.toEqual(failed);
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({
      reason: 'handler-failed',
      attempt: 2,
      error: boom,
      eventName: 'call:started',
      webhookId: 'id-1',
    });
  });

  it('sends an invalid payload to deadLetter at once, and again if deadLetter fails', async () => {
    const deadLetter = jest.fn(() => Promise.resolve());
    deadLetter.mockRejectedValueOnce(new Error('full'));
    const work = createWorkerHandler({ logger, deadLetter });
    const invalid = queued(bytes('{'));
    await expect(work(invalid)).rejects.toMatchObject({
      code: 'invalid-payload',
      message: expect.stringContaining('The deadLetter sink failed'),
    });
    await expect(work(invalid, { attempt: 2 })).rejects.toMatchObject({ code: 'invalid-payload' });
    expect(deadLetter.mock.calls).toHaveLength(2);
    expect((deadLetter.mock.calls as unknown[][])[1]?.[0]).toMatchObject({
      reason: 'invalid-payload',
      rawBody: bytes('{'),
    });
  });

  it('lets the engine say which attempt is the last', async () => {
    const deadLetter = jest.fn();
    const on = { 'call:started': () => Promise.reject(new Error('no')) };
    const work = createWorkerHandler({ logger, deadLetter, on });
    await expect(work(JOB, { attempt: 9, isLastAttempt: false })).rejects.toThrow();
    expect(deadLetter).toHaveBeenCalledTimes(0);
    await expect(work(JOB, { attempt: 1, isLastAttempt: true })).rejects.toThrow();
    expect(deadLetter).toHaveBeenCalledTimes(1);
  });

  it('sends a job that the engine abandoned to deadLetter, without running it', async () => {
    const deadLetter = jest.fn();
    const started = jest.fn();
    const abandonReason = new Error('five workers died of it');
    const work = createWorkerHandler({ logger, deadLetter, on: { 'call:started': started } });
    await expect(work(JOB, { attempt: 1, abandonReason })).rejects.toThrow('five workers died');
    expect(started).not.toHaveBeenCalled();
    expect(deadLetter).toHaveBeenCalledWith(expect.objectContaining({ error: abandonReason }));
  });

  it('passes on an abort by the engine, before and during the run', async () => {
    const reasons: unknown[] = [];
    const controller = new AbortController();
    const work = createWorkerHandler({
      logger,
      on: {
        'call:started': (_event: unknown, { signal }: HandlerContext) => {
          controller.abort();
          reasons.push(signal.reason);
        },
      },
    });
    await work(JOB, { signal: controller.signal });
    await work(JOB, { signal: controller.signal });
    expect(reasons).toEqual(
      [1, 2].map(() => expect.objectContaining({ code: 'shutting-down' }) as unknown),
    );
  });

  it.each<[string, () => unknown, Partial<QueuedDelivery>?]>([
    ['is done', () => undefined],
    ['failed', () => Promise.reject(new Error('the CRM is down'))],
    ['cannot be read', () => undefined, { body: 'not base64!' }],
  ])('lets go of the signal of its engine once a job %s', async (...row) => {
    const [, handle, more] = row;
    const { signal } = new AbortController();
    const work = createWorkerHandler({ logger, on: { 'call:started': handle } });
    for (const attempt of [1, 2])
      await work({ ...JOB, ...more }, { attempt, signal }).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('calls onUnhandled, and resolves without a handler', async () => {
    const onUnhandled = jest.fn();
    await createWorkerHandler({ logger, onUnhandled })(JOB);
    expect(onUnhandled.mock.calls[0]?.[0]).toEqual(STARTED);
    await expect(createWorkerHandler({ logger })(JOB)).resolves.toBeUndefined();
  });
});

describe('the hooks of a worker', () => {
  const job = (body: Uint8Array, receivedAt: number) => ({
    webhookId: 'id-1',
    timestamp: SECONDS,
    receivedAt,
    body: Buffer.from(body).toString('base64'),
  });
  const JOB = job(bytes(JSON.stringify(STARTED)), 0);
  const boom = new Error('no');
  const IDENTITY = {
    webhookId: 'id-1',
    eventName: 'call:started',
    callId: 'call-1',
    key: 'call-1:call:started',
  };

  it('are told of a job that was handled', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(5_000);
    const { outcomes, errors, process } = observedWorker({
      on: { 'call:started': () => undefined },
    });
    await process({ ...JOB, receivedAt: 2_000 });
    await process({ ...JOB, receivedAt: 9_000 }); // the clock was set back
    jest.restoreAllMocks();
    expect(outcomes[0]).toEqual({
      outcome: 'handled',
      source: 'queue',
      status: 200,
      durationMs: expect.any(Number) as unknown,
      handlerMs: expect.any(Number) as unknown,
      lagMs: 3_000,
      queued: true,
      attempt: 1,
      ...IDENTITY,
    });
    expect(outcomes[1]?.lagMs).toBe(0);
    expect(errors).toEqual([]);
  });

  it('are told that no handler ran for an ignored event', async () => {
    const { outcomes, process } = observedWorker({});
    await process(JOB);
    expect(outcomes).toMatchObject([{ outcome: 'ignored' }]);
    expect(outcomes[0]).not.toHaveProperty('handlerMs');
  });

  it('are told of a failure after the commit, as its outcome does not', async () => {
    const { outcomes, errors, process } = observedWorker({
      on: {
        'call:started': async (_event: unknown, { completeIn }: HandlerContext) => {
          await completeIn('tx');
          throw boom;
        },
      },
    });
    const isTrue = () => Promise.resolve(true);
    await process(JOB, { transaction: { completeIn: isTrue, isCompleted: isTrue } });
    expect(outcomes).toMatchObject([{ outcome: 'handled' }]);
    const info = { code: 'handled', source: 'handler', ...IDENTITY, attempt: 1, queued: true };
    expect(errors).toEqual([{ error: boom, info: { ...info, lastAttempt: true, late: false } }]);
  });

  it('are told of a transaction that comes too late', async () => {
    let late: (() => Promise<void>) | undefined;
    const { errors, process } = observedWorker({
      on: {
        'call:started': (_event: unknown, { completeIn }: HandlerContext) => {
          late = () => completeIn('tx');
        },
      },
    });
    expect(await process(JOB)).toEqual({ status: 'done' });
    expect(errors).toEqual([]);
    expect(late).toThrow('Await the transaction in the handler');
    const info = { code: 'handled', source: 'handler', key: 'call-1:call:started', queued: true };
    expect(errors).toMatchObject([{ error: { name: 'WebhookError' }, info }]);
  });

  it('are told of every failed attempt and of the dead letter', async () => {
    const { outcomes, errors, process } = observedWorker({
      on: { 'call:started': () => Promise.reject(boom) },
      deadLetter: () => undefined,
    });
    await process(JOB);
    await process(JOB, { attempt: 2, maxRuns: 5 });
    await process(JOB, { attempt: 5, maxRuns: 5 });
    expect(outcomes.map((outcome) => [outcome.outcome, outcome.attemptsLeft])).toEqual([
      ['handler-failed', 99],
      ['handler-failed', 3],
      ['dead-lettered', 0],
    ]);
    expect(errors.map(({ error }) => error)).toEqual([boom, boom, boom]);
    expect(errors[2]?.info).toEqual({
      code: 'dead-lettered',
      source: 'handler',
      ...IDENTITY,
      attempt: 5,
      lastAttempt: true,
      late: false,
      queued: true,
    });
  });

  it('are told that deadLetter failed', async () => {
    const sinkError = new Error('disk full');
    const { outcomes, errors, process } = observedWorker({
      on: { 'call:started': () => Promise.reject(boom) },
      deadLetter: () => Promise.reject(sinkError),
    });
    await process(JOB, { attempt: 100 });
    expect(outcomes).toMatchObject([{ outcome: 'handler-failed', attemptsLeft: 0 }]);
    expect(errors.map(({ error, info }) => [info.source, error])).toEqual([
      ['handler', boom],
      ['dead-letter', sinkError],
    ]);
  });

  it('are told of a payload that is not valid', async () => {
    const { outcomes, errors, process } = observedWorker({});
    await process(job(bytes('{'), 0)); // without a sink, it is a dead job of the queue
    expect(outcomes).toMatchObject([{ outcome: 'dead-lettered', attemptsLeft: 0 }]);
    expect(errors).toMatchObject([{ info: { source: 'schema', lastAttempt: true } }]);
  });
});

/** The line of a run that failed. */
async function lineOf(job: WorkerJob) {
  const logger = collectingLogger();
  const on = { 'call:completed': () => Promise.reject(new Error('no')) };
  await createJobProcessor({ logger, on })(queuedCall('call-1'), job);
  const [line, ...more] = logger.entries;
  if (!line || more.length > 0) throw new Error('not one line');
  return line;
}

describe('the log line of a failed job', () => {
  it.each([
    [1, 'call-webhooks: gave up after 1 attempt: The handler failed: Error: no'],
    [2, 'call-webhooks: gave up after 2 attempts: The handler failed: Error: no'],
  ])('says how many attempts there were: %d', async (attempt, message) => {
    expect(await lineOf({ attempt, isLastAttempt: true })).toMatchObject({ message });
  });

  it('names no limit that only the engine knows', async () => {
    const { message, fields } = await lineOf({ attempt: 2, isLastAttempt: false });
    expect(message).toBe('call-webhooks: attempt 2 failed: The handler failed: Error: no');
    expect(fields).not.toHaveProperty('maxRuns');
  });

  it.each([
    [false, /\/outcomes\.html#handler-failed$/],
    [true, /\/outcomes\.html#dead-lettered$/],
  ])('links to what the outcome means (last attempt: %s)', async (isLastAttempt, docs) => {
    const { fields } = await lineOf({ isLastAttempt });
    expect(fields.docs).toMatch(docs);
  });
});
