import { describe, expect, it, jest } from '@jest/globals';
import {
  WebhookError,
  type HandlerContext,
  type Outcome,
  type QueuedDelivery,
  type WorkerOptions,
} from '../../src/index.ts';
import type { WorkerJob } from '../../src/stores.ts';
import { bytes, NOW, SECONDS, STARTED } from '../support.ts';
import { observedWorker } from './observed.ts';

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
