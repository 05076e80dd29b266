import { describe, expect, it } from '@jest/globals';
import { Worker } from 'bullmq';
import { bullmqQueue, createBullmqWorker, type BullmqQueueLike } from '../src/index.ts';

const some = () => Promise.resolve();
const queue = { add: some, isPaused: () => Promise.resolve(false) };

describe('the options of BullMQ queues and workers', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'expected a Queue of BullMQ'],
    ['connection options', { host: '127.0.0.1' }, 'expected a Queue of BullMQ'],
    ['a queue of Bull', { ...queue, process: some }, 'a queue of Bull'],
  ])('refuse %s as a queue', (_name, value, mistake) => {
    expect(() => bullmqQueue(value as BullmqQueueLike)).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(mistake),
      }),
    );
  });

  it('are checked when they are made', () => {
    for (const [name, value] of Object.entries({
      maxRuns: 0,
      rememberFor: 5_000,
      logger: 5,
      attempts: 5,
    }))
      expect(() => bullmqQueue(queue, { [name]: value })).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(new RegExp(`options of bullmqQueue.*${name}`)),
        }),
      );
  });

  it('of workers, too, with the name of the function in the message', () => {
    const good = { Worker, queueName: 'calls', connection: {} };
    expect(() => createBullmqWorker({ ...good, queueName: '' })).toThrow(
      /options of createBullmqWorker.*queueName: expected the name of the queue/,
    );
    for (const [name, value] of Object.entries({
      Worker: undefined,
      connection: '127.0.0.1',
      concurrency: Infinity,
      backoff: { first: 5 },
      maxCrashes: -1,
      logger: {},
      on: { 'call:complete': some },
    }))
      expect(() => createBullmqWorker({ ...good, [name]: value })).toThrow(name);
    expect(() => createBullmqWorker({ ...good, maxRuns: 5 as never })).toThrow(
      'maxRuns: it is an option of bullmqQueue',
    );
  });
});
