import { describe, expect, it, jest } from '@jest/globals';
import type { HandlerContext } from '../../src/index.ts';
import { bytes, SECONDS, STARTED } from '../support.ts';
import { observedWorker } from './observed.ts';

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

describe('the hooks of a worker', () => {
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
    const { outcomes, process } = observedWorker({ on: {} });
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
    const { outcomes, errors, process } = observedWorker({ on: {} });
    await process(job(bytes('{'), 0)); // without a sink, it is a dead job of the queue
    expect(outcomes).toMatchObject([{ outcome: 'dead-lettered', attemptsLeft: 0 }]);
    expect(errors).toMatchObject([{ info: { source: 'schema', lastAttempt: true } }]);
  });
});
