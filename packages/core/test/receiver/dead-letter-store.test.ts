import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { memoryDeadLetters, type ReceiverOptions } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { toBase64 } from '../../src/base64.ts';
import { bytes, createTestReceiver, NOW, STARTED } from '../support.ts';

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
  it('stores dead letters of a receiver, without personal data in their errors', async () => {
    const deadLetter = memoryDeadLetters();
    const { receiver, send } = createTestReceiver({ on, maxAttempts: 1, deadLetter });
    const event = { ...STARTED, recipientName: 'Ada Lovelace' };
    expect(await send(event, { webhookId: 'w-1' })).toBe('dead-lettered');
    const { letters } = await deadLetter.list();
    expect(letters).toMatchObject([
      {
        ...{ reason: 'handler-failed', source: 'webhook', attempt: 1, webhookId: 'w-1' },
        ...{ key: 'call-1:call:started', callId: 'call-1', failedAt: new Date(NOW) },
        error: 'Error: no contact for [redacted]',
        rawBody: bytes(JSON.stringify(event)),
      },
    ]);
    expect((await receiver.deliver(letters[0]!)).outcome).toBe('dead-lettered');
    const again = (await deadLetter.list()).letters;
    expect(again.map(({ id }) => id)).toEqual([letters[0]!.id]);
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
    expect(() => createTestReceiver({ deadLetter })).toThrow('deadLetter: expected a function, or');
  });
});
