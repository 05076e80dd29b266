import { describe, expect, it, jest } from '@jest/globals';
import type { DeadLetter, HandlerContext, QueuedDelivery } from '../../src/index.ts';
import { createJobProcessor, LeasedJobRun, type LeasedJob } from '../../src/stores.ts';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { bytes, NOW, SECONDS, STARTED } from '../support.ts';

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
    expect(String(error)).toContain('pgBossQueue or sqliteQueue, or context.key');
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
