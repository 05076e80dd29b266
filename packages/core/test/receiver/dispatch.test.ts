import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { collectingLogger } from '@call-webhooks/contract-tests';
import type { DeadLetter, Queue, QueuedDelivery } from '../../src/index.ts';
import {
  createTestReceiver,
  delivery,
  NOW,
  SECONDS,
  STARTED,
  createWorkerHandler,
} from '../support.ts';

describe('custom payloads', () => {
  it('are checked, keyed and handled', async () => {
    const handle = jest.fn();
    const custom = {
      schema: z.object({ id: z.string(), n: z.coerce.number() }),
      key: (p: { id: string }) => p.id,
      handle,
    };
    const { send, outcomes } = createTestReceiver({ custom } as never);
    expect(await send({ id: 'x', n: '5' })).toBe('handled');
    expect(await send({ id: 'x', n: '5' })).toBe('duplicate');
    expect(await send({ n: 5 })).toBe('invalid-payload');
    expect(handle).toHaveBeenCalledTimes(1);
    expect(handle.mock.calls[0]?.[0]).toEqual({ id: 'x', n: 5 });
    expect(outcomes[0]?.key).toBe('custom:x');
  });
});

describe('a payload that does not match its schema', () => {
  const options = {
    events: { 'call:voicemail': z.object({ seconds: z.number() }) },
    on: { 'call:voicemail': () => undefined },
  } as never;
  const event = { eventName: 'call:voicemail', seconds: 'seven' };
  const issues = [{ path: 'seconds', code: 'invalid_type' }];

  it('is told with its event and its issues in the log and the outcome', async () => {
    const { send, outcomes, lines } = createTestReceiver(options);
    expect(await send(event)).toBe('invalid-payload');
    expect(outcomes[0]).toMatchObject({ eventName: 'call:voicemail', error: { issues } });
    expect(lines[0]).toContain('does not match its schema: seconds: ');
    expect(lines[0]).toContain("eventName: 'call:voicemail'");
    expect(lines[0]).not.toContain('seven');
  });

  it('reaches the dead letters of receivers and workers with them', async () => {
    const expected = { reason: 'invalid-payload', eventName: 'call:voicemail', error: { issues } };
    const deadLetter = jest.fn<(letter: DeadLetter) => void>();
    const { send, outcomes, lines } = createTestReceiver({ ...(options as object), deadLetter });
    expect(await send(event)).toBe('dead-lettered');
    expect(outcomes[0]).toMatchObject({ eventName: 'call:voicemail', error: { issues } });
    expect(lines[0]).toContain('does not match its schema: seconds: ');
    const work = createWorkerHandler({
      ...(options as object),
      deadLetter,
      logger: collectingLogger(),
    });
    const body = Buffer.from(JSON.stringify(event)).toString('base64');
    await expect(
      work({ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW, body }),
    ).rejects.toMatchObject({ code: 'invalid-payload' });
    for (const [letter] of deadLetter.mock.calls) expect(letter).toMatchObject(expected);
    expect(deadLetter).toHaveBeenCalledTimes(2);
  });

  it('is told with its issues when the dead-letter sink fails as well', async () => {
    const deadLetter = () => Promise.reject(new Error('disk full'));
    const { send, outcomes } = createTestReceiver({ ...(options as object), deadLetter });
    expect(await send(event)).toBe('invalid-payload');
    expect(outcomes[0]).toMatchObject({ eventName: 'call:voicemail', error: { issues } });
  });
});

describe('a queue', () => {
  it('gets the raw bytes, and the response is 202', async () => {
    const queued: QueuedDelivery[] = [];
    const handle = jest.fn();
    const queue = { enqueue: (job: QueuedDelivery) => Promise.resolve(void queued.push(job)) };
    const { receiver } = createTestReceiver({ queue, on: { 'call:started': handle } });
    const request = await delivery(STARTED, { webhookId: 'id-1' });
    expect((await receiver.receive(request)).status).toBe(202);
    expect(queued).toEqual([
      {
        webhookId: 'id-1',
        timestamp: SECONDS,
        receivedAt: NOW,
        key: 'call-1:call:started',
        eventName: 'call:started',
        body: Buffer.from(request.body).toString('base64'),
      },
    ]);
    expect(handle).not.toHaveBeenCalled();
    expect((await receiver.receive(await delivery(STARTED))).outcome.outcome).toBe('duplicate');
    expect(queued).toHaveLength(1);
  });

  it('that fails means 503, never a dead letter, and the retry is queued', async () => {
    const enqueue = jest.fn<Queue['enqueue']>(() => Promise.reject(new Error('no connection')));
    const deadLetter = jest.fn();
    const options = { queue: { enqueue }, deadLetter };
    const { send, outcomes } = createTestReceiver(options);
    for (let i = 0; i < 3; i++) expect(await send(STARTED)).toBe('store-unavailable');
    expect(outcomes[0]).not.toHaveProperty('attemptsLeft');
    expect(deadLetter).not.toHaveBeenCalled();
    enqueue.mockResolvedValue(undefined);
    expect(await send(STARTED)).toBe('queued');
    expect(outcomes.at(-1)).not.toHaveProperty('handlerMs');
  });
});
