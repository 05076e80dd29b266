import { describe, expect, it } from '@jest/globals';
import { WebhookError, type DeadLetter, type ReceiverOptions } from '../../src/index.ts';
import { bytes, createTestReceiver, STARTED } from '../support.ts';

/** The dead letter of a payload that fails at once, and what was reported. */
async function letterOf(payload: unknown, options: Partial<ReceiverOptions<never, never>> = {}) {
  const letters: DeadLetter[] = [];
  const deadLetter = (letter: DeadLetter) => void letters.push(letter);
  const { send, outcomes } = createTestReceiver({ deadLetter, maxAttempts: 1, ...options });
  const code = await send(payload);
  return { code, letter: letters[0], error: outcomes[0]?.error };
}

/** What is reported of a payload that the receiver refuses and the sink does not take. */
async function sinkFailure(payload: unknown, sinkError: Error) {
  const errors: { source: string; error: unknown }[] = [];
  const { send, outcomes } = createTestReceiver({
    custom: { key: () => 7 as never, handle: () => undefined },
    deadLetter: () => Promise.reject(sinkError),
    onError: (error, { source }) => void errors.push({ source, error }),
  });
  expect(await send(payload)).toBe('invalid-payload');
  return { errors, message: outcomes[0]?.error?.message };
}

const BASE = [
  ...['reason', 'rawBody', 'webhookId', 'timestamp'],
  ...['attempt', 'failedAt', 'source', 'error', 'errorText'],
];

describe('a dead letter', () => {
  it('has no fields that its delivery does not have', async () => {
    const { code, letter = {} } = await letterOf(bytes('{'));
    expect(code).toBe('dead-lettered');
    expect(Object.keys(letter)).toEqual(BASE);
  });

  it('has the message of the outcome if the payload is invalid', async () => {
    const { letter, error } = await letterOf(bytes('{'));
    expect(letter?.errorText).toBe(error?.message);
  });

  it('quotes nothing of the payload, whichever error a handler throws', async () => {
    const event = { ...STARTED, recipientName: 'Ada Lovelace' };
    const on = {
      'call:started': () => {
        throw new WebhookError('handler-failed', 'no contact for Ada Lovelace');
      },
    };
    const { letter } = await letterOf(event, { on });
    expect(letter?.errorText).toContain('no contact for [redacted]');
  });
});

describe('a sink that fails for an invalid payload', () => {
  const event = { recipientName: 'Ada Lovelace' };
  const invalid = 'custom.key must return a text of 1 to 4000 characters at once, or undefined.';

  it('is reported beside the first failure, without personal data', async () => {
    const sinkError = new Error('no row for Ada Lovelace');
    const { errors, message } = await sinkFailure(event, sinkError);
    expect(message).toBe(
      `${invalid} The deadLetter sink failed as well: Error: no row for [redacted]`,
    );
    expect(errors.at(-1)).toEqual({ source: 'dead-letter', error: sinkError });
  });

  it('is quoted nowhere if the body cannot be parsed', async () => {
    const { errors, message } = await sinkFailure(bytes('{"name": Ada'), new Error('{"name": Ada'));
    expect(message).toContain('its error may quote the body and is withheld');
    expect(errors.at(-1)?.source).toBe('dead-letter');
    expect(String(errors.at(-1)?.error)).toContain('Ada'); // `onError` gets it as it is
  });
});
