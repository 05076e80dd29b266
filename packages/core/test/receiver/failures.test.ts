import { describe, expect, it, jest } from '@jest/globals';
import {
  memoryStore,
  WebhookError,
  type HandlerContext,
  type DeadLetter,
} from '../../src/index.ts';
import { bytes, createTestReceiver, delivery, NOW, STARTED } from '../support.ts';

const fail = () => {
  throw new Error('no');
};

describe('a handler that fails', () => {
  it('runs again on the retry, with its attempts counted', async () => {
    const attempts: number[] = [];
    const { send, outcomes } = createTestReceiver({
      on: {
        'call:started': (_event: unknown, { attempt }: HandlerContext) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('no');
        },
      },
    });
    expect([
      await send(STARTED),
      await send(STARTED),
      await send(STARTED),
      await send(STARTED),
    ]).toEqual(['handler-failed', 'handler-failed', 'handled', 'duplicate']);
    expect(attempts).toEqual([1, 2, 3]);
    expect(outcomes.map(({ attempt }) => attempt)).toEqual([1, 2, 3, undefined]);
  });

  it('has no attempts left to count where there is no deadLetter', async () => {
    const { send, outcomes } = createTestReceiver({ on: { 'call:started': fail } });
    await send(STARTED);
    expect(outcomes[0]).not.toHaveProperty('attemptsLeft');
  });

  it('keeps failing without a deadLetter', async () => {
    const { send } = createTestReceiver({ on: { 'call:started': fail }, maxAttempts: 1 });
    for (let i = 0; i < 3; i++) expect(await send(STARTED)).toBe('handler-failed');
  });

  it('passes the raw delivery to deadLetter after maxAttempts', async () => {
    const deadLetters: DeadLetter[] = [];
    const { send } = createTestReceiver({
      on: { 'call:started': fail },
      maxAttempts: 2,
      deadLetter: (letter: DeadLetter) => void deadLetters.push(letter),
    });
    expect([
      await send(STARTED),
      await send(STARTED, { webhookId: 'last' }),
      await send(STARTED),
    ]).toEqual(['handler-failed', 'dead-lettered', 'in-dead-letters']);
    expect(deadLetters).toEqual([
      {
        reason: 'handler-failed',
        rawBody: bytes(JSON.stringify(STARTED)),
        webhookId: 'last',
        timestamp: new Date(NOW),
        eventName: 'call:started',
        callId: 'call-1',
        key: 'call-1:call:started',
        attempt: 2,
        failedAt: new Date(NOW),
        source: 'webhook',
        error: new Error('no'),
        errorText: 'Error: no',
      },
    ]);
  });

  it('names the cause of a dead letter in the outcome and in the log', async () => {
    const { send, lines, outcomes } = createTestReceiver({
      on: { 'call:started': fail },
      maxAttempts: 1,
      deadLetter: () => undefined,
    });
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(outcomes[0]?.error).toMatchObject({ code: 'handler-failed' });
    expect(lines.join()).toContain('200 dead-lettered: The handler failed: Error: no');
  });

  it('is retried when deadLetter fails as well', async () => {
    const deadLetter = jest.fn(() => Promise.reject(new Error('disk full')));
    const { send, lines } = createTestReceiver({
      on: { 'call:started': fail },
      maxAttempts: 1,
      deadLetter,
    });
    expect(await send(STARTED)).toBe('handler-failed');
    expect(lines.join()).toContain('The deadLetter sink failed: Error: disk full');
    expect(lines[0]).toMatch(
      /callId: 'call-1'[^]*webhookId: '[^]*attempt: 1[^]*outcomes.html#dead-lettered/,
    );
    deadLetter.mockResolvedValue(undefined as never);
    expect(await send(STARTED)).toBe('dead-lettered');
  });

  it('is not run again when its process died in every attempt', async () => {
    const clock = { now: NOW };
    const store = memoryStore({ now: () => clock.now });
    const die = async (token: string) => {
      await store.admit({
        webhookId: token,
        token,
        key: 'call-1:call:started',
        leaseMs: 1_000,
        replayUntil: NOW + 1_000,
      });
      clock.now += 1_000;
    };
    for (const token of ['a', 'b', 'c', 'd', 'e']) await die(token);
    const handle = jest.fn(fail);
    const deadLetters: DeadLetter[] = [];
    const { send, outcomes } = createTestReceiver({
      store,
      on: { 'call:started': handle },
      maxAttempts: 2,
      deadLetter: (letter: DeadLetter) => void deadLetters.push(letter),
    });
    const sink = jest.spyOn(deadLetters, 'push');
    sink.mockImplementationOnce(fail);
    expect(await send(STARTED)).toBe('handler-failed'); // attempt 6 of 2 × 3
    expect(handle).toHaveBeenCalledTimes(1);
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(handle).toHaveBeenCalledTimes(1);
    expect(deadLetters[0]).toMatchObject({
      attempt: 7,
      reason: 'handler-failed',
      errorText: expect.stringContaining('The event is given up after 6 attempts'),
    });
    expect(outcomes.at(-1)).not.toHaveProperty('handlerMs');
  });

  it('is not blamed on a content-length that counts more bytes', async () => {
    const { receiver } = createTestReceiver({ on: { 'call:started': fail } });
    const { headers, body } = await delivery(STARTED);
    const longer = { ...headers, 'content-length': String(body.length + 1) };
    const { outcome } = await receiver.receive({ headers: longer, body });
    expect(outcome.outcome).toBe('handler-failed');
  });

  it('may throw anything', async () => {
    const thrown: unknown[] = [
      'text',
      undefined,
      null,
      7,
      new WebhookError('handled', 'odd'),
      new WebhookError('duplicate', 'odd'),
    ];
    const { send } = createTestReceiver({
      on: { 'call:started': () => Promise.reject(thrown.pop()) },
    });
    for (let left = thrown.length; left > 0; left--)
      expect(await send(STARTED)).toBe('handler-failed');
  });

  it('with an invalid payload goes to deadLetter at once', async () => {
    const deadLetters: DeadLetter[] = [];
    const deadLetter = jest.fn((letter: DeadLetter) => void deadLetters.push(letter));
    const { send, lines } = createTestReceiver({ deadLetter });
    expect(await send(bytes('{'))).toBe('dead-lettered');
    expect(deadLetters[0]).toMatchObject({
      reason: 'invalid-payload',
      rawBody: bytes('{'),
      attempt: 1,
      error: { code: 'invalid-payload' },
    });
    expect(lines).toHaveLength(1);
    deadLetter.mockImplementation(fail);
    expect(await send(bytes('{'))).toBe('invalid-payload');
  });
});
