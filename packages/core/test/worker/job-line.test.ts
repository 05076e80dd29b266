import { describe, expect, it } from '@jest/globals';
import { collectingLogger, queuedCall } from '@call-webhooks/contract-tests';
import { createJobProcessor, type WorkerJob } from '../../src/stores.ts';

/** The line of a run that failed. */
async function lineOf(job: WorkerJob) {
  const logger = collectingLogger();
  const on = { 'call:completed': () => Promise.reject(new Error('no')) };
  await createJobProcessor({ logger, on })(queuedCall('call-1'), job);
  const [line, ...more] = logger.entries;
  if (!line || more.length > 0) throw new Error('not one line');
  return line;
}

describe('the log line of a failed job', () => {
  it.each([
    [1, 'call-webhooks: gave up after 1 attempt: The handler failed: Error: no'],
    [2, 'call-webhooks: gave up after 2 attempts: The handler failed: Error: no'],
  ])('says how many attempts there were: %d', async (attempt, message) => {
    expect(await lineOf({ attempt, isLastAttempt: true })).toMatchObject({ message });
  });

  it('names no limit that only the engine knows', async () => {
    const { message, fields } = await lineOf({ attempt: 2, isLastAttempt: false });
    expect(message).toBe('call-webhooks: attempt 2 failed: The handler failed: Error: no');
    expect(fields).not.toHaveProperty('maxRuns');
  });

  it.each([
    [false, /\/outcomes\.html#handler-failed$/],
    [true, /\/outcomes\.html#dead-lettered$/],
  ])('links to what the outcome means (last attempt: %s)', async (isLastAttempt, docs) => {
    const { fields } = await lineOf({ isLastAttempt });
    expect(fields.docs).toMatch(docs);
  });
});
