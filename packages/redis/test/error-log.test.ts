import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { errorLog } from '../src/error-log.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('logs one of the errors of a worker every ten seconds: BullMQ emits one for each attempt to connect', () => {
  const logger = collectingLogger();
  const log = errorLog(logger);
  const error = (message: string) => {
    log(new Error(message));
  };
  error('the first');
  jest.advanceTimersByTime(9_999);
  error('too early');
  jest.advanceTimersByTime(1);
  error('the second');
  expect(logger.entries).toEqual(
    ['the first', 'the second'].map((message) => ({
      level: 'warn',
      message: `call-webhooks: BullMQ's worker: Error: ${message}`,
      fields: {
        err: expect.objectContaining({ message }),
        docs: expect.stringMatching(/\/queues\.html#bullmq$/),
      },
    })),
  );
});

it('redacts what it logs', () => {
  const logger = collectingLogger();
  errorLog(logger, (text) => text.replace('hunter2', '***'))(new Error('AUTH hunter2'));
  expect(logger.lines.join()).toContain('AUTH ***');
  expect(logger.lines.join()).not.toContain('hunter2');
});
