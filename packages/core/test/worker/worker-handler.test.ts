import { describe, expect, it, jest } from '@jest/globals';
import type { DeadLetter, HandlerContext, QueuedDelivery } from '../../src/index.ts';
import { handlerLogger } from '../../src/report/logger.ts';
import {
  bytes,
  createTestReceiver,
  Lines,
  NOW,
  SECONDS,
  STARTED,
  createWorkerHandler,
} from '../support.ts';

const queued = (body: Uint8Array): QueuedDelivery => ({
  webhookId: 'id-1',
  timestamp: SECONDS,
  receivedAt: NOW,
  body: Buffer.from(body).toString('base64'),
});
const JOB = queued(bytes(JSON.stringify(STARTED)));
const logger = new Lines();

describe('createWorkerHandler', () => {
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
      code: 'handler-failed', // so it is retried
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

  it('calls onUnhandled, and resolves without a handler', async () => {
    const onUnhandled = jest.fn();
    await createWorkerHandler({ logger, onUnhandled })(JOB);
    expect(onUnhandled.mock.calls[0]?.[0]).toEqual(STARTED);
    await expect(createWorkerHandler({ logger })(JOB)).resolves.toBeUndefined();
  });
});
