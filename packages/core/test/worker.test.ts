import { describe, expect, it, jest } from '@jest/globals';
import {
  createWorkerHandler,
  type HandlerContext,
  type Parked,
  type QueuedDelivery,
} from '../src/index.ts';
import { bench, bytes, Lines, NOW, SECONDS, STARTED } from './support.ts';

const queued = (body: Uint8Array): QueuedDelivery => ({
  webhookId: 'id-1',
  timestamp: SECONDS,
  receivedAt: NOW,
  body: Buffer.from(body).toString('base64'),
});
const JOB = queued(bytes(JSON.stringify(STARTED)));
const logger = new Lines();

describe('createWorkerHandler', () => {
  it('runs what a receiver queued, with its context', async () => {
    const jobs: QueuedDelivery[] = [];
    const { send } = bench({ queue: { enqueue: (job) => Promise.resolve(void jobs.push(job)) } });
    await send(STARTED, { webhookId: 'id-9' });
    const seen: [unknown, HandlerContext][] = [];
    const work = createWorkerHandler({
      logger,
      on: { 'call:started': (event, context) => void seen.push([event, context]) },
    });
    await work(jobs[0]!, { attempt: 2 });
    const [event, context] = seen[0]!;
    expect(event).toEqual(STARTED);
    expect(context).toMatchObject({
      webhookId: 'id-9',
      attempt: 2,
      key: 'call-1:call:started',
      secretId: undefined,
      log: logger,
    });
    expect(Buffer.from(context.rawBody).toString()).toBe(JSON.stringify(STARTED));
  });

  it('rejects with a clean error, and hands the last failure to deadLetter', async () => {
    const parked: Parked[] = [];
    const boom = new Error('call Ada Lovelace');
    const work = createWorkerHandler({
      logger,
      maxAttempts: 2,
      deadLetter: (letter) => void parked.push(letter),
      on: { 'call:started': () => Promise.reject(boom) },
    });
    const job = queued(bytes(JSON.stringify({ ...STARTED, name: 'Ada Lovelace' })));
    const failed = expect.objectContaining({
      code: 'handler-failed',
      message: 'The handler failed: Error: call [redacted]',
    });
    await expect(work(job)).rejects.toEqual(failed);
    expect(parked).toEqual([]);
    await expect(work(job, { attempt: 2 })).rejects.toEqual(failed);
    expect(parked).toHaveLength(1);
    expect(parked[0]).toMatchObject({
      reason: 'handler-failed',
      attempt: 2,
      error: boom,
      eventName: 'call:started',
      webhookId: 'id-1',
    });
  });

  it('parks a payload that can never be handled with the first attempt', async () => {
    const deadLetter = jest.fn();
    const work = createWorkerHandler({ logger, deadLetter });
    await expect(work(queued(bytes('{')))).rejects.toMatchObject({ code: 'invalid-payload' });
    await expect(work(queued(bytes('{')), { attempt: 2 })).rejects.toMatchObject({
      code: 'invalid-payload',
    });
    expect(deadLetter).toHaveBeenCalledTimes(1);
    expect(deadLetter.mock.calls[0]?.[0]).toMatchObject({
      reason: 'invalid-payload',
      rawBody: bytes('{'),
    });
  });

  it('passes the abort of the engine on, before the run and within it', async () => {
    const reasons: unknown[] = [];
    const controller = new AbortController();
    const work = createWorkerHandler({
      logger,
      on: {
        'call:started': (_event, { signal }) => {
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

  it('tells onUnhandled, and resolves when there is nobody', async () => {
    const onUnhandled = jest.fn();
    await createWorkerHandler({ logger, onUnhandled })(JOB);
    expect(onUnhandled.mock.calls[0]?.[0]).toEqual(STARTED);
    await expect(createWorkerHandler({ logger })(JOB)).resolves.toBeUndefined();
  });
});
