import { describe, expect, it, jest } from '@jest/globals';
import {
  collectingLogger,
  type CreateWith,
  DAY,
  HOUR,
  MINUTE,
  numberOptionsTests,
  TEN_YEARS,
} from '@call-webhooks/contract-tests';
import { bullmqQueue, createBullmqWorker, redisDeadLetters, redisStore } from '../src/index.ts';
import { fakeWorker } from './fake-worker.ts';

const some = () => Promise.resolve('=');
const client = { evalsha: some, eval: some };
const calls = { add: some, isPaused: () => Promise.resolve(false) };
const bullmq = {
  ...calls,
  getJob: some,
  getFailedCount: () => Promise.resolve(0),
  getJobs: () => Promise.resolve([]),
};
const logger = collectingLogger();

const store: CreateWith = (options) => redisStore(client, { logger, ...options });
const letters: CreateWith = (options) => redisDeadLetters(client, { logger, ...options });
const queue: CreateWith = (options) => bullmqQueue(bullmq, { logger, ...options });
const worker: CreateWith = (options) =>
  createBullmqWorker({
    ...{ Worker: fakeWorker(), queueName: 'calls', connection: { socketTimeout: 15_000 }, logger },
    ...options,
  });

numberOptionsTests([
  ['redisStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, store, DAY],
  ['redisDeadLetters', 'keepFor', HOUR, TEN_YEARS, letters, undefined],
  ['bullmqQueue', 'rememberFor', 10 * MINUTE, TEN_YEARS, queue],
  ['bullmqQueue', 'keepFor', HOUR, TEN_YEARS, queue, undefined],
  ['bullmqQueue', 'maxRuns', 1, 1_000_000, queue],
  ['createBullmqWorker', 'concurrency', 1, 10_000, worker],
]);

describe('what a worker tells BullMQ', () => {
  /** The options that BullMQ's class is created with. */
  function toldBy(more: object) {
    const told: unknown[][] = [];
    class Worker extends fakeWorker() {
      constructor(...args: unknown[]) {
        super();
        told.push(args);
      }
    }
    const connection = { socketTimeout: 15_000 };
    createBullmqWorker({ Worker, queueName: 'calls', connection, logger, ...more });
    const [[name, , options] = []] = told;
    return { name, options: options as Record<string, unknown>, connection };
  }

  it('is how jobs are run, and the options of the user beside it', () => {
    const { name, options, connection } = toldBy({});
    expect(name).toBe('calls');
    expect(options).toEqual({
      ...{ connection, concurrency: 4, autorun: false, maxStalledCount: 5 },
      settings: { backoffStrategy: expect.any(Function) },
    });
    const bullmq = { prefix: 'mine', maxStalledCount: 9, limiter: { max: 1, duration: 1_000 } };
    expect(toldBy({ concurrency: 7, bullmq }).options).toEqual({
      ...options,
      ...bullmq,
      concurrency: 7,
      settings: { backoffStrategy: expect.any(Function) },
    });
  });

  it('is after which time a job of a receiver is run again, in whole milliseconds, and at once any other', () => {
    const { options } = toldBy({ backoff: { initialDelay: 1_001, maxDelay: 4_000 } });
    const { backoffStrategy } = options['settings'] as {
      backoffStrategy: (attempts: number, type?: string) => number;
    };
    const half = jest.spyOn(Math, 'random').mockReturnValue(0.123);
    const delays = [1, 2, 3, 4].map((attempts) => backoffStrategy(attempts, 'call-webhooks'));
    half.mockRestore();
    expect(delays.every(Number.isInteger)).toBe(true);
    for (const [at, usual] of [1_001, 2_002, 4_000, 4_000].entries())
      expect(Math.abs(delays[at]! - usual)).toBeLessThanOrEqual(usual / 5);
    for (const type of ['fixed', undefined]) expect(backoffStrategy(3, type)).toBe(0);
  });
});
