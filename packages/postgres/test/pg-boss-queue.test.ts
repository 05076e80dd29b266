import { describe, expect, it } from '@jest/globals';
import { pgBossQueue } from '../src/index.ts';
import { jobId } from '../src/job-id.ts';
import { DELIVERY, recordingBoss } from './recording-boss.ts';

const failsOnce = <Reply>(error: Error, reply: Reply) => {
  let failed = false;
  return () => {
    if (failed) return reply;
    failed = true;
    throw error;
  };
};

describe('migrate() of a queue in pg-boss', () => {
  it('makes sure of its queues once, and the first delivery does so without it', async () => {
    const { boss, calls, callsOf } = recordingBoss();
    const queue = pgBossQueue(boss, { queue: 'calls' });
    expect(calls).toEqual([]);
    await queue.enqueue(DELIVERY);
    expect(calls.map(([method]) => method)).toEqual(['getQueue', 'getQueue', 'send']);
    await Promise.all([queue.migrate(), queue.migrate(), queue.enqueue(DELIVERY)]);
    expect(callsOf('getQueue')).toEqual([['calls-dead'], ['calls']]);
  });

  it('rejects with the error of pg-boss, and is tried again', async () => {
    const error = new Error('down');
    const { boss, callsOf } = recordingBoss({ getQueue: failsOnce(error, {}) });
    const queue = pgBossQueue(boss, { deadLetterQueue: 'lost' });
    await expect(queue.enqueue(DELIVERY)).rejects.toBe(error);
    expect(callsOf('send')).toEqual([]);
    await queue.enqueue(DELIVERY);
    expect(callsOf('getQueue')).toEqual([['lost'], ['lost'], ['call-webhooks']]);
  });
});

describe('a delivery', () => {
  it('is sent once, under the id of its event, as it is', async () => {
    const { boss, callsOf } = recordingBoss();
    const delivery = { ...DELIVERY, tenant: 'acme', trace: { traceparent: '00-1' } };
    await pgBossQueue(boss).enqueue(delivery);
    expect(callsOf('send')).toStrictEqual([
      ['call-webhooks', delivery, expect.objectContaining({ id: await jobId(delivery) })],
    ]);
    expect(callsOf('getJobById')).toEqual([]);
  });

  it('that pg-boss has already is in the queue, or was in it', async () => {
    const { boss, callsOf } = recordingBoss({ send: () => null, getJobById: () => ({}) });
    const queue = pgBossQueue(boss);
    await queue.enqueue(DELIVERY);
    await queue.enqueue(DELIVERY);
    const asked = ['call-webhooks', await jobId(DELIVERY), { includeArchive: true }];
    expect(callsOf('getJobById')).toEqual([asked, asked]);
    expect(callsOf('getQueue')).toHaveLength(2); // of the first delivery
  });

  it('that pg-boss took silently is an error: its queue is missing, and made for the next one', async () => {
    const { boss, callsOf } = recordingBoss({ send: () => null });
    const queue = pgBossQueue(boss, { queue: 'gone' });
    const refusal = 'pg-boss took no job. Was the queue "gone" deleted?';
    await expect(queue.enqueue(DELIVERY)).rejects.toEqual(new Error(refusal));
    await expect(queue.enqueue(DELIVERY)).rejects.toEqual(new Error(refusal));
    expect(callsOf('getQueue')).toHaveLength(4);
  });

  it('that pg-boss refused rejects with its error, and the queues are looked at before the next one', async () => {
    const error = new Error('Queue gone does not exist');
    const { boss, callsOf } = recordingBoss({ send: failsOnce(error, 'sent') });
    const queue = pgBossQueue(boss);
    await expect(queue.enqueue(DELIVERY)).rejects.toBe(error);
    expect(callsOf('getJobById')).toEqual([]);
    await queue.enqueue(DELIVERY);
    expect(callsOf('getQueue')).toHaveLength(4);
  });
});

/** What is sent of a delivery. */
async function sentOf(more: object) {
  const { boss, callsOf } = recordingBoss();
  await pgBossQueue(boss).enqueue({ ...DELIVERY, ...more });
  return callsOf('send')[0]![1];
}

describe('what Postgres cannot keep in JSON', () => {
  const { key: _key, eventName: _eventName, ...rest } = DELIVERY;
  const HASH = /^sha256:[\da-f]{64}$/;

  it.each(['\0', 'a\0b', '\ud83d', 'a\ude00'])('is left out or hashed: %j', async (text) => {
    expect(await sentOf({ key: text })).toStrictEqual({ ...rest, eventName: 'call:completed' });
    expect(await sentOf({ eventName: text })).toStrictEqual({ ...rest, key: DELIVERY.key });
    expect(await sentOf({ webhookId: text })).toStrictEqual({
      ...DELIVERY,
      webhookId: expect.stringMatching(HASH),
    });
  });

  it.each(['', '😀', 'a"b\\', 'x'.repeat(1_000)])('is not what it can: %j', async (text) => {
    const texts = { key: text, eventName: text, webhookId: text };
    expect(await sentOf(texts)).toStrictEqual({ ...rest, ...texts });
  });

  it('is not what is absent', async () => {
    const sent = await sentOf({ key: undefined, eventName: undefined });
    expect(sent).toStrictEqual(rest);
  });
});

describe('ping()', () => {
  it('asks for the queue, and rejects with the error of pg-boss', async () => {
    const error = new Error('down');
    const { boss, calls } = recordingBoss({ getQueue: failsOnce(error, {}) });
    const queue = pgBossQueue(boss, { queue: 'calls' });
    await expect(queue.ping!()).rejects.toBe(error);
    await expect(queue.ping!()).resolves.toBeUndefined();
    expect(calls).toEqual([
      ['getQueue', 'calls'],
      ['getQueue', 'calls'],
    ]);
  });
});
