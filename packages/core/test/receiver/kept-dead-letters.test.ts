import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { toBase64 } from '#platform';
import { memoryDeadLetters, type ReceiverOptions } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { bytes, createTestReceiver, deferred, NOW, STARTED } from '../support.ts';

const on = {
  'call:started': () => {
    throw new Error('no contact for Ada Lovelace');
  },
};

describe('memoryDeadLetters in production', () => {
  const warnings = (deadLetter: ReceiverOptions['deadLetter'], NODE_ENV: string | undefined) => {
    jest.replaceProperty(process, 'env', { NODE_ENV });
    return createTestReceiver({ deadLetter }).lines;
  };
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('warns once at start that acknowledged events end with the process', () => {
    const lines = warnings(memoryDeadLetters(), 'production');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^warn .*memoryDeadLetters\(\) loses .*sqliteDeadLetters/);
  });

  it('says nothing elsewhere, and of other dead letters', () => {
    expect(warnings(memoryDeadLetters(), undefined)).toEqual([]);
    expect(warnings(memoryDeadLetters(), 'test')).toEqual([]);
    expect(warnings({ ...memoryDeadLetters() }, 'production')).toEqual([]);
    expect(warnings(() => undefined, 'production')).toEqual([]);
    expect(warnings(undefined, 'production')).toEqual([]);
  });
});

describe('deadLetter: a store', () => {
  async function deadLettered(event: object = STARTED) {
    const deadLetter = memoryDeadLetters();
    const made = createTestReceiver({ on, maxAttempts: 1, deadLetter });
    expect(await made.send(event, { webhookId: 'w-1' })).toBe('dead-lettered');
    const [listed] = (await deadLetter.list()).letters;
    return { ...made, deadLetter, listed: listed! };
  }

  it('stores dead letters of a receiver', async () => {
    const { deadLetter, listed } = await deadLettered();
    expect(listed).toMatchObject({
      ...{ reason: 'handler-failed', source: 'webhook', attempt: 1, webhookId: 'w-1' },
      ...{ key: 'call-1:call:started', callId: 'call-1', failedAt: new Date(NOW) },
      bytes: JSON.stringify(STARTED).length,
    });
    expect((await deadLetter.get(listed.id))!.rawBody).toEqual(bytes(JSON.stringify(STARTED)));
  });

  it('stores no personal data of the event in the error', async () => {
    const { listed } = await deadLettered({ ...STARTED, recipientName: 'Ada Lovelace' });
    expect(listed.error).toBe('Error: no contact for [redacted]');
  });

  it('takes no dead letter of a list for an event', async () => {
    const { receiver, listed } = await deadLettered();
    await expect(receiver.deliver(listed as never)).rejects.toThrow('deadLetters.get(id)');
  });

  it('has one letter of an event that fails again, with its attempts so far', async () => {
    const { receiver, deadLetter, listed } = await deadLettered();
    const letter = (await deadLetter.get(listed.id))!;
    expect((await receiver.deliver(letter)).outcome).toBe('dead-lettered');
    const again = (await deadLetter.list()).letters;
    expect(again.map(({ id }) => id)).toEqual([listed.id]);
    expect(again[0]!.history).toMatchObject([
      { source: 'webhook', attempt: 1 },
      { source: 'redrive', attempt: 2 },
    ]);
  });

  it('retries a delivery that the store did not take', async () => {
    const deadLetter = memoryDeadLetters({ maxLetters: 1 });
    const { send } = createTestReceiver({ on, maxAttempts: 1, deadLetter });
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(await send({ ...STARTED, callId: 'call-2' })).toBe('handler-failed');
    expect(await send(bytes('{'))).toBe('invalid-payload');
  });

  it('takes a new failure of a letter that it has, although it is full', async () => {
    const deadLetter = memoryDeadLetters({ maxLetters: 1 });
    const { receiver, send } = createTestReceiver({ on, maxAttempts: 1, deadLetter });
    expect(await send(STARTED)).toBe('dead-lettered');
    const [listed] = (await deadLetter.list()).letters;
    const again = await receiver.deliver((await deadLetter.get(listed!.id))!);
    expect(again.outcome).toBe('dead-lettered');
    expect((await deadLetter.get(listed!.id))!.history).toHaveLength(2);
  });

  it('stores dead letters of a worker', async () => {
    const deadLetter = memoryDeadLetters();
    const logger = { warn: () => undefined, error: () => undefined };
    const process = createJobProcessor({ on, deadLetter, logger });
    const body = toBase64(bytes(JSON.stringify(STARTED)));
    const delivery = { webhookId: 'w-1', timestamp: NOW / 1_000, receivedAt: NOW, body };
    const result = await process(delivery, { attempt: 7, isLastAttempt: true });
    expect(result.status).toBe('dead');
    const { letters } = await deadLetter.list();
    expect(letters).toMatchObject([{ source: 'queue', attempt: 7, webhookId: 'w-1' }]);
  });

  it('has to be a function or a store', () => {
    const deadLetter = { list: () => [] } as never;
    expect(() => createTestReceiver({ deadLetter })).toThrow('deadLetter: expected a function or');
  });
});

describe('a slow deadLetter', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  it('the lease is renewed while a slow deadLetter takes the event', async () => {
    const sink = deferred();
    const deadLetter = jest.fn(() => sink.promise);
    const { send } = createTestReceiver({
      now: undefined,
      ackWithin: 1_000,
      maxAttempts: 1,
      deadLetter,
      on: {
        'call:started': () => {
          throw new Error('no');
        },
      },
    });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(200_000);
    expect(await sent).toBe('deadline');
    expect(await send(STARTED)).toBe('in-progress');
    sink.resolve();
    await jest.advanceTimersByTimeAsync(1);
    expect(await send(STARTED)).toBe('in-dead-letters');
    expect(deadLetter).toHaveBeenCalledTimes(1);
  });
});
