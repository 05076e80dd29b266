import { describe, expect, it, jest } from '@jest/globals';
import { queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { bullmqQueue } from '../src/index.ts';

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

  it('and warns on the console by default', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const config = () => Promise.resolve(['appendonly', 'no']);
    bullmqQueue({
      ...{ add: () => Promise.resolve(), isPaused: () => Promise.resolve(false) },
      client: Promise.resolve({ config }),
    });
    await waitFor(() => warn.mock.calls.length > 0, { every: 1 });
    expect(JSON.stringify(warn.mock.calls)).toContain('appendonly no');
    warn.mockRestore();
  });
});
