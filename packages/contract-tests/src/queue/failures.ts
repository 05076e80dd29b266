import { expect, it } from '@jest/globals';
import type { DeadLetter } from '@call-webhooks/core';
import { waitFor } from '../wait-for.ts';
import { queued, queuedCall } from './deliveries.ts';
import { unique } from '../unique.ts';
import { MAX_ATTEMPTS, type OpenQueue } from './under-test.ts';

/**
 * What fails is run again, and what fails for good is kept.
 * @param keepsReason whether a run that only calls `deadLetter` knows why the last attempt failed
 */
export function failures(open: OpenQueue, { keepsReason }: { keepsReason: boolean }): void {
  it('runs what failed again, and counts the attempts', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const attempts: number[] = [];
    await startWorker({
      on: {
        'call:completed': (_event, { attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('not yet');
        },
      },
    });
    await queue.enqueue(queuedCall(unique('call')));
    await waitFor(() => attempts.length === 3);
    expect(attempts).toEqual([1, 2, 3]);
    expect(await deadLetters()).toEqual([]);
  });

  it('hands what failed in its last attempt to deadLetter, and keeps it among its own dead letters', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const kept: DeadLetter[] = [];
    let runs = 0;
    const boom = new Error('never');
    await startWorker({
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
  });

  it('gives up on an invalid payload at once', async () => {
    const { queue, startWorker, deadLetters } = await open();
    const kept: DeadLetter[] = [];
    await startWorker({ deadLetter: (letter) => void kept.push(letter) });
    const invalid = queued(Buffer.from('{"eventName":'));
    await queue.enqueue(invalid);
    await waitFor(async () => (await deadLetters()).length > 0);
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({ reason: 'invalid-payload', attempt: 1 });
    expect(await deadLetters()).toEqual([invalid]);
  });

  it('asks a deadLetter sink that failed again, as long as there are attempts', async () => {
    const { queue, startWorker } = await open();
    const kept: number[] = [];
    let asked = 0;
    await startWorker({
      deadLetter: ({ attempt }) => {
        asked += 1;
        if (asked === 1) throw new Error('the sink is full');
        kept.push(attempt);
      },
    });
    await queue.enqueue(queued(Buffer.from('no JSON')));
    await waitFor(() => kept.length > 0);
    expect(kept).toEqual([2]);
  });

  it('loses nothing in an outage: when the handler heals, every event is handled once', async () => {
    const { queue, startWorker, deadLetters } = await open({ maxAttempts: 1_000 });
    let down = true;
    let failed = 0;
    const handled: string[] = [];
    await startWorker({
      on: {
        'call:completed': (event) => {
          if (!down) return void handled.push(String(event.callId));
          failed += 1;
          throw new Error('the CRM is down');
        },
      },
    });
    const calls = Array.from({ length: 20 }, () => unique('call'));
    for (const id of calls) await queue.enqueue(queuedCall(id));
    await waitFor(() => failed >= calls.length * 3);
    expect(await deadLetters()).toEqual([]);
    down = false;
    await waitFor(() => handled.length >= calls.length);
    expect(handled.sort()).toEqual(calls.sort());
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

  it('runs what failed again, whatever is in the message of its error', async () => {
    const { queue, startWorker } = await open();
    const attempts: number[] = [];
    await startWorker({
      on: {
        'call:completed': (_event, { attempt }) => {
          attempts.push(attempt);
          if (attempt === 1) throw new Error('half \ud83d of a pair, and \0');
        },
      },
    });
    await queue.enqueue(queuedCall(unique('call')));
    await waitFor(() => attempts.length === 2);
  });

  it('goes on when the logger throws', async () => {
    const { queue, startWorker, deadLetters } = await open({ maxAttempts: 2 });
    const broken = () => {
      throw new Error('no log');
    };
    let runs = 0;
    const logger = { warn: broken, error: () => Promise.reject(new Error('no log')) };
    const failing = () => {
      runs += 1;
      throw new Error('never');
    };
    await startWorker({ logger, on: { 'call:completed': failing } });
    await queue.enqueue(queuedCall(unique('call')));
    await waitFor(async () => (await deadLetters()).length > 0);
    expect(runs).toBe(2);
  });
}
