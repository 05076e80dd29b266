import { expect, it } from '@jest/globals';
import type { DeadLetter, HandlerContext } from '../../src/index.ts';
import { newWebhookId } from '../../src/internal.ts';
import { bytes, createTestReceiver, SECRET, STARTED } from '../support.ts';

// What the command line redrives and reconciles over the network is known by its webhook id.

const UUID = '0a1b2c3d-0000-4000-8000-000000000000';

it.each([
  ['redrive', undefined, /^redrive-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/],
  ['redrive', 0, /^redrive-[\da-f]{8}-/],
  ['redrive', 7, /^redrive-7:[\da-f]{8}-/],
  ['reconcile', undefined, /^reconcile-[\da-f]{8}-/],
] as const)('a new id of a %s after %p runs is taken, and is another each time', async (...row) => {
  const [sender, runs, form] = row;
  const id = newWebhookId(sender, runs);
  expect(id).toMatch(form);
  expect(newWebhookId(sender, runs)).not.toBe(id);
  const { send, outcomes } = createTestReceiver();
  expect(await send(STARTED, { webhookId: id })).toBe('ignored');
  expect(outcomes).toMatchObject([{ source: sender, webhookId: id }]);
});

it.each<[webhookId: string, source: string, attempt: number]>([
  [`redrive-${UUID}`, 'redrive', 1],
  [`redrive-4:${UUID}`, 'redrive', 5],
  [`redrive-999999:${UUID}`, 'redrive', 1_000_000],
  // No id of ours.
  [`redrive-1000000:${UUID}`, 'redrive', 1],
  [`redrive-x4:${UUID}`, 'redrive', 1],
  [`reconcile-4:${UUID}`, 'reconcile', 1],
  [`redriven-4:${UUID}`, 'webhook', 1],
  [`4:redrive-4:${UUID}`, 'webhook', 1],
])(
  'the first run of %s, by %s, is attempt %d: of the handler, the outcome and the letter',
  async (...row) => {
    const [webhookId, source, attempt] = row;
    const seen: unknown[] = [];
    const letters: DeadLetter[] = [];
    const { send, outcomes } = createTestReceiver({
      ...{ maxAttempts: 1, deadLetter: (letter: DeadLetter) => void letters.push(letter) },
      on: {
        'call:started': (_event: unknown, context: HandlerContext) => {
          seen.push([context.source, context.attempt]);
          throw new Error('no');
        },
      },
    });
    expect(await send(STARTED, { webhookId })).toBe('dead-lettered');
    expect(seen).toEqual([['webhook', attempt]]); // it came over the network
    expect(outcomes).toMatchObject([{ source, attempt, attemptsLeft: 0 }]);
    expect(letters).toMatchObject([{ source, attempt, webhookId }]);
  },
);

it.each<[webhookId: string, outcome: string, attemptsLeft: number, letters: number]>([
  [UUID, 'handler-failed', 4, 0],
  [`reconcile-${UUID}`, 'handler-failed', 4, 0],
  // Nobody sends a redrive again, however many attempts are left.
  [`redrive-${UUID}`, 'dead-lettered', 0, 1],
  [`redrive-1:${UUID}`, 'dead-lettered', 0, 1],
  [`redrive-9:${UUID}`, 'dead-lettered', 0, 1],
])(
  'of five attempts, the first failure of %s is %s, with %d left',
  async (webhookId, outcome, attemptsLeft, count) => {
    const letters: DeadLetter[] = [];
    const { send, outcomes } = createTestReceiver({
      ...{ maxAttempts: 5, deadLetter: (letter: DeadLetter) => void letters.push(letter) },
      on: { 'call:started': () => Promise.reject(new Error('no')) },
    });
    expect(await send(STARTED, { webhookId })).toBe(outcome);
    expect(outcomes).toMatchObject([{ outcome, attemptsLeft }]);
    expect(letters).toHaveLength(count);
  },
);

it.each<[tenant: string | undefined, given: string | undefined, of: string]>([
  ['acme', undefined, 'acme'],
  [undefined, 'globex', 'globex'],
  ['acme', 'globex', 'globex'],
])(
  'a letter of the tenant %p that is delivered for the tenant %p is of %s, in all that is told of it',
  async (tenant, given, of) => {
    const contexts: unknown[] = [];
    const letters: DeadLetter[] = [];
    const { receiver } = createTestReceiver({
      ...{ tenant: () => 'other', secret: () => SECRET },
      ...{ deadLetter: (letter: DeadLetter) => void letters.push(letter) },
      on: {
        'call:started': (_event: unknown, { tenant, key }: HandlerContext) => {
          contexts.push({ tenant, key });
          throw new Error('no');
        },
      },
    });
    const letter = { rawBody: bytes(JSON.stringify(STARTED)), tenant };
    const expected = { tenant: of, key: `tenant:${of}:call-1:call:started` };
    expect(await receiver.deliver(letter, { tenant: given })).toMatchObject(expected);
    expect(contexts).toEqual([expected]);
    expect(letters).toMatchObject([expected]);
  },
);
