import { describe, expect, it, jest } from '@jest/globals';
import type { DeadLetter, QueuedDelivery } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { bytes, NOW, SECONDS, STARTED } from '../support.ts';

const queued = (body: Uint8Array): QueuedDelivery => ({
  webhookId: 'id-1',
  timestamp: SECONDS,
  receivedAt: NOW,
  body: Buffer.from(body).toString('base64'),
});
const JOB = queued(bytes(JSON.stringify(STARTED)));
const failing = { 'call:started': () => Promise.reject(new Error('no')) };

describe('createJobProcessor', () => {
  it('tells the engine what to do, and logs failures', async () => {
    const logger = collectingLogger();
    const done = createJobProcessor({ logger, on: { 'call:started': () => undefined } });
    expect(await done(JOB)).toEqual({ status: 'done' });
    expect(logger.lines).toEqual([]);

    const process = createJobProcessor({ logger, on: failing, maxRuns: 2 });
    expect(await process(JOB)).toMatchObject({
      status: 'retry',
      error: { code: 'handler-failed' },
    });
    expect(await process(JOB, { attempt: 2 })).toMatchObject({ status: 'dead' });
    expect(await process(queued(bytes('{')))).toMatchObject({
      status: 'dead',
      error: { code: 'invalid-payload' },
    });
    expect(await process({ ...JOB, body: '%' })).toMatchObject({ status: 'dead' });
    expect(logger.lines).toHaveLength(4);
    const call = {
      ...{ eventName: 'call:started', callId: 'call-1', key: 'call-1:call:started' },
      ...{ webhookId: 'id-1', maxRuns: 2, source: 'queue' },
    };
    expect(logger.entries.slice(0, 2)).toMatchObject([
      {
        level: 'warn',
        message: 'call-webhooks: attempt 1 of 2 failed: The handler failed: Error: no',
        fields: { ...call, outcome: 'handler-failed', attempt: 1, retriedBy: 'queue' },
      },
      {
        level: 'error',
        message: 'call-webhooks: gave up after 2 attempts: The handler failed: Error: no',
        fields: { ...call, outcome: 'dead-lettered', attempt: 2, retriedBy: 'nobody' },
      },
    ]);
  });

  it('retries while deadLetter fails, and then calls only deadLetter', async () => {
    const letters: DeadLetter[] = [];
    let broken = true;
    const handler = jest.fn(() => Promise.reject(new Error('the CRM is down')));
    const process = createJobProcessor({
      logger: collectingLogger(),
      on: { 'call:started': handler },
      deadLetter(letter) {
        if (broken) throw new Error('the disk is full');
        letters.push(letter);
      },
    });
    const first = await process(JOB, { attempt: 5, isLastAttempt: true });
    expect(first).toMatchObject({
      status: 'retry',
      error: { message: expect.stringContaining('The deadLetter sink failed') },
      abandonReason: 'The handler failed: Error: the CRM is down',
    });
    const reason = (first as { abandonReason: string }).abandonReason;
    const again = (attempt: number) =>
      process(JOB, { attempt, isLastAttempt: true, abandonReason: new Error(reason) });
    expect(await again(6)).toMatchObject({ status: 'retry', abandonReason: reason });
    broken = false;
    expect(await again(7)).toMatchObject({ status: 'dead' });
    expect(letters).toMatchObject([{ attempt: 7, error: new Error(reason) }]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('ignores loggers that throw', async () => {
    const logger = {
      warn: () => Promise.reject(new Error('no log')),
      error: () => {
        throw new Error('no log');
      },
    };
    const process = createJobProcessor({ logger, on: failing });
    expect(await process(JOB)).toMatchObject({ status: 'retry' });
    expect(await process(JOB, { isLastAttempt: true })).toMatchObject({ status: 'dead' });
  });

  it('returns messages that every database can store', async () => {
    const error = () => Promise.reject(new Error('half \ud83d of a pair, \0 and \u{1f4de}'));
    const process = createJobProcessor({
      logger: collectingLogger(),
      on: { 'call:started': error },
    });
    expect(await process(JOB)).toMatchObject({
      error: { message: 'The handler failed: Error: half \ufffd of a pair,   and \u{1f4de}' },
    });
  });
});
