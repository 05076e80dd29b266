import expect from '../../expect.cjs';
import type { DeadLetter } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { queued, queuedCall } from './deliveries.ts';
import { unique } from '../unique.ts';
import { MAX_ATTEMPTS, type QueueTestContext } from './under-test.ts';

/**
 * What fails is run again, and what fails for good is kept.
 * @param keepsReason whether a run that only calls `deadLetter` knows why the last attempt failed
 */
export function failures(
  { it, open, waitFor }: QueueTestContext,
  { keepsReason }: { keepsReason: boolean },
): void {
  it('runs a failed job again, and counts the attempts', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const attempts: number[] = [];
    await startWorker({
      on: {
        'call:completed': (_event, { attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('half \ud83d of a pair, and \0');
        },
      },
    });
    await queue.enqueue(queuedCall(unique('call')));
    await waitFor(() => attempts.length === 3);
    expect(attempts).toEqual([1, 2, 3]);
    expect(await deadLetters()).toEqual([]);
  });

  it('hands a job that fails in its last attempt to deadLetter, and keeps it among its own dead jobs', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const kept: DeadLetter[] = [];
    const logger = collectingLogger();
    let runs = 0;
    const boom = new Error('never');
    await startWorker({
      logger,
      deadLetter: (letter) => void kept.push(letter),
      on: {
        'call:completed': () => {
          runs += 1;
          throw boom;
        },
      },
    });
    const delivery = queuedCall(unique('call'));
    await queue.enqueue(delivery);
    await waitFor(async () => (await deadLetters()).length > 0);
    expect(runs).toBe(MAX_ATTEMPTS);
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({
      reason: 'handler-failed',
      attempt: MAX_ATTEMPTS,
      error: boom,
      key: delivery.key,
      webhookId: delivery.webhookId,
    });
    expect(await deadLetters()).toEqual([delivery]);
    const { key, webhookId } = delivery;
    const fields = { key, webhookId, maxRuns: MAX_ATTEMPTS, err: boom };
    expect(logger.entries).toMatchObject([
      { fields: { ...fields, outcome: 'handler-failed', attempt: 1, retriedBy: 'queue' } },
      { fields: { ...fields, outcome: 'handler-failed', attempt: 2, retriedBy: 'queue' } },
      { fields: { ...fields, outcome: 'dead-lettered', attempt: 3, retriedBy: 'nobody' } },
    ]);
  });

  it('gives up on an invalid payload at once, and asks a deadLetter sink that failed again', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const kept: DeadLetter[] = [];
    const asked: number[] = [];
    await startWorker({
      deadLetter: (letter) => {
        asked.push(letter.attempt);
        if (asked.length === 1) throw new Error('the sink is full');
        kept.push(letter);
      },
    });
    const invalid = queued(Buffer.from('{"eventName":'));
    await queue.enqueue(invalid);
    await waitFor(async () => (await deadLetters()).length > 0);
    expect(asked).toEqual([1, 2]);
    expect(kept).toMatchObject([{ reason: 'invalid-payload', attempt: 2 }]);
    expect(await deadLetters()).toEqual([invalid]);
  });

  it('does not give a job up while deadLetter fails: it is called again, and the handler is not', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const kept: DeadLetter[] = [];
    let asked = 0;
    let runs = 0;
    await startWorker({
      deadLetter(letter) {
        asked += 1;
        if (asked < 3) throw new Error('the disk is full');
        kept.push(letter);
      },
      on: {
        'call:completed': () => {
          runs += 1;
          throw new Error('never');
        },
      },
    });
    const delivery = queuedCall(unique('call'));
    await queue.enqueue(delivery);
    await waitFor(async () => (await deadLetters()).length > 0);
    expect(asked).toBe(3);
    expect(runs).toBe(MAX_ATTEMPTS);
    expect(kept).toMatchObject([{ reason: 'handler-failed', attempt: MAX_ATTEMPTS + 2 }]);
    if (keepsReason) expect(String(kept[0]!.error)).toContain('never');
  });
}
