import { describe, expect, it, jest } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import { Worker } from 'bullmq';
import { bullmqQueue, type BullmqQueueLike, createBullmqWorker } from '../src/index.ts';

describe('bullmqQueue calls BullMQ', () => {
  function queueWith(options: object = {}) {
    const add = jest.fn((_name: string, _data: object, _options: object) => Promise.resolve());
    const isPaused = jest.fn(() => Promise.resolve(false));
    return { add, isPaused, hand: bullmqQueue({ add, isPaused }, options) };
  }

  it('with a job under an id of the event', async () => {
    const { add, hand } = queueWith();
    const delivery = queuedCall('call-1');
    await hand.enqueue(delivery);
    expect(add.mock.calls).toEqual([
      [
        'call:completed',
        delivery,
        {
          jobId: expect.stringMatching(/^event-[0-9a-f]{64}$/),
          attempts: 100,
          backoff: { type: 'call-webhooks' },
          removeOnComplete: { age: 86_400 },
          removeOnFail: false,
          stackTraceLimit: 1,
        },
      ],
    ]);
  });

  it('with the attempts and the time that its options have; whole seconds, and never fewer', async () => {
    const { add, hand } = queueWith({ maxRuns: 7, rememberFor: 600_001 });
    const { eventName: _eventName, ...custom } = queuedCall('call-1');
    await hand.enqueue(custom);
    expect(add.mock.calls[0]?.[0]).toBe('custom');
    expect(add.mock.calls[0]?.[2]).toMatchObject({
      attempts: 7,
      removeOnComplete: { age: 601 },
    });
  });

  it('with ids that differ by event, and by tenant where there is no key', async () => {
    const { add, hand } = queueWith();
    const { key: _key, ...withoutKey } = queuedCall('call-1', { webhookId: 'w' });
    for (const more of [{}, { tenant: 'a' }, { tenant: 'b' }, { webhookId: 'v' }, { key: 'w' }])
      await hand.enqueue({ ...withoutKey, ...more });
    const ids = add.mock.calls.map(([, , options]) => (options as { jobId: string }).jobId);
    expect(new Set(ids).size).toBe(5);
    expect(ids.map((id) => id.replace(/-.*/, ''))).toEqual([
      ...['delivery', 'delivery', 'delivery', 'delivery', 'event'],
    ]);
  });

  it('and tells what the client needs if the server became a replica', async () => {
    const { add, hand } = queueWith();
    add.mockRejectedValueOnce(new Error("READONLY You can't write against a read only replica."));
    await expect(hand.enqueue(queuedCall('call-1'))).rejects.toThrow(
      /^READONLY .*Set reconnectOnError of ioredis/,
    );
  });

  it('with isPaused() to see whether the server answers', async () => {
    const { isPaused, hand } = queueWith();
    isPaused.mockRejectedValueOnce(new Error('down'));
    await expect(hand.ping!()).rejects.toThrow('down');
    await expect(hand.ping!()).resolves.toBe(false);
  });

  it.each(['add', 'isPaused'])('and refuses a queue without %s()', (method) => {
    const queue = { add: () => Promise.resolve(), isPaused: () => Promise.resolve(false) };
    expect(() => bullmqQueue({ ...queue, [method]: undefined })).toThrow(
      'Invalid queue of bullmqQueue: expected a Queue of BullMQ, such as new Queue("calls", { connection }).',
    );
  });
});

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

  it('with keepFor need a queue whose dead jobs can be found', () => {
    const finding = { getJob: some, getJobs: some, getFailedCount: some };
    const create = (more: object, keepFor?: number) => () =>
      bullmqQueue({ ...queue, ...finding, ...more } as unknown as BullmqQueueLike, { keepFor });
    expect(create({}, 3_600_000)().keepFor).toBe(3_600_000);
    for (const method of Object.keys(finding)) {
      expect(create({ [method]: undefined })().keepFor).toBeUndefined();
      expect(create({ [method]: undefined }, 3_600_000)).toThrow(
        'Invalid queue of bullmqDeadJobs: expected a Queue of BullMQ',
      );
    }
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
      logger: {},
      on: { 'call:complete': some },
    }))
      expect(() => createBullmqWorker({ ...good, [name]: value })).toThrow(name);
    expect(() => createBullmqWorker({ ...good, maxRuns: 5 as never })).toThrow(
      'maxRuns: it is an option of bullmqQueue',
    );
  });
});
