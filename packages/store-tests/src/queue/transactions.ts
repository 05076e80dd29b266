import expect from '../../expect.cjs';
import type { CallCompletedEvent, HandlerContext } from '@call-webhooks/core';
import type { Effects } from '../store/under-test.ts';
import { unique } from '../unique.ts';
import { queuedCall } from './deliveries.ts';
import { MAX_ATTEMPTS, type QueueTestContext } from './under-test.ts';

type Handle = (effect: string, context: HandlerContext, effects: Effects) => Promise<void>;

/** Jobs that are done in a transaction of the user, which also has an effect. */
export function transactions({ it, open, waitFor }: QueueTestContext<Effects>): void {
  /** A worker, and a job whose effect is the id of its call. */
  async function start(handle: Handle) {
    const { queue, startWorker, deadLetters, transact, committed, client } = await open();
    const callId = unique('call');
    const runs: string[] = [];
    const attempts: number[] = [];
    const letters: number[] = [];
    await startWorker({
      deadLetter: ({ attempt }) => void letters.push(attempt),
      on: {
        'call:completed': async (event: CallCompletedEvent, context) => {
          runs.push(String(event.callId));
          if (event.callId !== callId) return;
          attempts.push(context.attempt);
          await handle(callId, context, { transact, committed, client });
        },
      },
    });
    const enqueue = () => queue.enqueue(queuedCall(callId));
    await enqueue();
    return {
      attempts,
      letters,
      deadLetters,
      effects: () => committed(callId),
      enqueue,
      /** Waits until another job has run: behind it, this one would have run again. */
      async settled() {
        const other = unique('call');
        await queue.enqueue(queuedCall(other));
        await waitFor(() => runs.includes(other));
      },
    };
  }

  it('completes the job together with the effect', async () => {
    const job = await start((effect, { completeIn }, { transact }) =>
      transact(async ({ tx, write }) => {
        await write(effect);
        await completeIn(tx);
        await completeIn(tx);
      }),
    );
    await waitFor(async () => (await job.effects()) === 1);
    await job.settled();
    await job.enqueue(); // a duplicate
    await job.settled();
    expect(job.attempts).toEqual([1]);
    expect(await job.effects()).toBe(1);
    expect(await job.deadLetters()).toEqual([]);
  });

  for (const ignored of [true, false])
    it(`runs it again after a rollback (ignored: ${String(ignored)})`, async () => {
      const job = await start(async (effect, { completeIn, attempt }, { transact }) => {
        const transaction = transact(async ({ tx, write }) => {
          await write(effect);
          await completeIn(tx);
          if (attempt === 1) throw new Error('a constraint was violated');
        });
        await (ignored ? transaction.catch(() => undefined) : transaction);
      });
      await waitFor(async () => (await job.effects()) === 1);
      await job.settled();
      expect(job.attempts).toEqual([1, 2]);
      expect(await job.effects()).toBe(1);
    });

  it('does not run it again when its handler fails after the commit, in the last attempt as well', async () => {
    const job = await start(async (effect, { completeIn, attempt }, { transact }) => {
      if (attempt < MAX_ATTEMPTS) throw new Error('not yet');
      await transact(async ({ tx, write }) => {
        await write(effect);
        await completeIn(tx);
      });
      throw new Error('the mail server is down');
    });
    await waitFor(async () => (await job.effects()) === 1);
    await job.settled();
    expect(job.attempts).toEqual([1, 2, 3]);
    expect(job.letters).toEqual([]);
    expect(await job.deadLetters()).toEqual([]);
  });

  it('keeps a dead letter when the last attempt is rolled back', async () => {
    const job = await start((effect, { completeIn }, { transact }) =>
      transact(async ({ tx, write }) => {
        await write(effect);
        await completeIn(tx);
        throw new Error('never');
      }),
    );
    await waitFor(async () => (await job.deadLetters()).length === 1);
    expect(job.letters).toEqual([MAX_ATTEMPTS]);
    expect(await job.effects()).toBe(0);
  });

  it('refuses anything that is not a transaction, also the client that begins them, and runs the job again', async () => {
    const errors: unknown[] = [];
    const job = await start(async (effect, { completeIn, attempt }, { transact, client }) => {
      await transact(async ({ tx, write }) => {
        await write(effect);
        await completeIn([{}, client][attempt - 1] ?? tx);
      }).catch((error: unknown) => {
        errors.push(error);
        throw error;
      });
    });
    await waitFor(async () => (await job.effects()) === 1);
    expect(errors).toMatchObject([{ code: 'invalid-options' }, expect.any(Error)]);
    expect(job.attempts).toEqual([1, 2, 3]);
  });
}
