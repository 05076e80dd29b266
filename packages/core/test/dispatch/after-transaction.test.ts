import { describe, expect, it } from '@jest/globals';
import { toBase64 } from '../../src/base64.ts';
import { Transactions } from '../../src/events/context.ts';
import type { HandlerContext } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { bytes, deferred, Lines, NOW, SECONDS, STARTED } from '../support.ts';
import { thrownBy, transactionalReceiver } from '../transactional-store.ts';

const DOCS = /\/exactly-once\.html#your-own-database$/;
const failing = async ({ completeIn }: HandlerContext, commit?: () => Promise<void>) => {
  await completeIn({ marks: [] });
  await commit?.();
  throw new Error('the mail server is down');
};

describe('an error after the commit of a handler', () => {
  it('is logged as one that nobody retries, without onError as well', async () => {
    const logger = new Lines();
    const { send } = transactionalReceiver(
      async ({ completeIn }, tx) => {
        await completeIn(tx);
        await tx.commit();
        throw new Error('the mail server is down');
      },
      { logger },
    );
    expect(await send(STARTED)).toBe('handled');
    expect(logger.entries).toMatchObject([
      {
        level: 'warn',
        fields: {
          ...{ retriedBy: 'nobody', eventName: 'call:started', attempt: 1 },
          docs: expect.stringMatching(DOCS) as unknown,
        },
        message: expect.stringContaining('so the event is done: Error: the mail server') as unknown,
      },
    ]);
  });

  it('is reported as one of a job in a worker', async () => {
    const queued: unknown[] = [];
    const process = createJobProcessor({
      logger: new Lines(),
      on: { 'call:started': (_event, context) => failing(context) },
      onError: (_error, info) => void queued.push([info.code, info.queued, info.lastAttempt]),
    });
    const delivery = {
      ...{ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW },
      body: toBase64(bytes(JSON.stringify(STARTED))),
    };
    const transaction = { completeIn: () => true, isCompleted: () => Promise.resolve(true) };
    expect(await process(delivery, { transaction })).toEqual({ status: 'done' });
    expect(queued).toEqual([['handled', true, true]]);
  });
});

describe('the transactions of a run', () => {
  it('may be done while one is being marked, and not after a lost lease', async () => {
    const answer = deferred<boolean>();
    const transactions = new Transactions({ completeIn: () => answer.promise });
    expect(transactions.mayBeDone).toBe(false);
    const running = transactions.completeIn({});
    expect(transactions.mayBeDone).toBe(true);
    answer.resolve(false);
    await expect(running).rejects.toMatchObject({ code: 'in-progress' });
    expect([transactions.mayBeDone, transactions.leaseLost]).toEqual([false, true]);
  });

  it('may be done after a statement that failed, since it may have been applied', async () => {
    const transactions = new Transactions({
      completeIn: () => Promise.reject(new Error('the connection was lost')),
    });
    await expect(transactions.completeIn({})).rejects.toThrow('the connection was lost');
    expect(transactions.mayBeDone).toBe(true);
  });

  it('throw at once what a synchronous client answers, as its transactions wait for no promise', () => {
    const transactions = new Transactions({ completeIn: () => false });
    expect(() => transactions.completeIn({})).toThrow('the lease was lost');
  });

  it('link each refusal to its documentation', async () => {
    const lost = await thrownBy(() => new Transactions({ completeIn: () => false }).completeIn({}));
    const unreachable = await thrownBy(() => new Transactions(undefined).completeIn({}));
    const ended = new Transactions({ completeIn: () => true });
    ended.end();
    const late = await thrownBy(() => ended.completeIn({}));
    expect([lost, late, unreachable].map(({ code }) => code)).toEqual([
      ...['in-progress', 'handler-failed', 'invalid-options'],
    ]);
    for (const { message } of [lost, late]) expect(message).toMatch(DOCS);
    expect(unreachable.message).toMatch(/\/exactly-once\.html#workers$/);
  });
});
