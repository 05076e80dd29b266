import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { PERSON, PLANTED } from '@call-webhooks/contract-tests/planted';
import { z } from 'zod';
import { type ErrorInfo, memoryDeadLetters, memoryStore } from '../../src/index.ts';
import { createTestReceiver } from '../support.ts';

const fail = (event: unknown) => {
  const { eventName, callId } = event as Record<string, unknown>;
  throw new Error(`${String(eventName)} of ${String(callId)}: the CRM is down`);
};

/** Everything that is told of one delivery whose handler fails, but to its own handler. */
async function told(event: object, options: object = {}) {
  const infos: ErrorInfo[] = [];
  const [store, deadLetters] = [memoryStore(), memoryDeadLetters()];
  const { receiver, lines, outcomes, send } = createTestReceiver({
    on: { 'call:completed': fail },
    onUnhandled: fail,
    ...options,
    ...{ store, deadLetter: deadLetters, maxAttempts: 1 },
    onError: (_error, info) => void infos.push(info),
  });
  expect(await send({ ...event, ...PERSON })).toBe('dead-lettered');
  const health = await receiver.health();
  await receiver.close();
  const rows = (await store.log?.read())?.rows;
  expect([infos, rows]).toMatchObject([[{}], [{}]]);
  const [letter] = (await deadLetters.list()).letters;
  return { all: inspect([lines, outcomes, infos, health, rows], { depth: 9 }), outcomes, letter };
}

/** The name of a person, as somebody may have written it where an id or the name of an event belongs. */
const NAMES = [
  ['a name', 'Ada Lovelace'],
  ['a name with a line break', 'Ada\nLovelace'],
  ['a name with an invisible space', 'Ada\u200bLovelace'],
  ['a name that is turned around', '\u202eAda Lovelace'],
  ['a name of other letters', 'Adá·Lovelace'],
  ['a name and a number', 'Ada: +49 171 5550123'],
] as const;

describe.each(NAMES)('%s', (_what, name) => {
  it.each([
    ['the name of an event', { eventName: name, eventId: 'e-1' }],
    ['a call id', { eventName: 'call:completed', callId: name }],
    ['an event id', { eventName: 'deal:won', eventId: name }],
  ])('is not told when it comes as %s', async (_where, event) => {
    const { all, letter } = await told(event);
    expect(all).not.toMatch(PLANTED);
    expect(letter?.error).not.toMatch(PLANTED);
  });
});

describe('the name of an event', () => {
  it('is told when it looks like one', async () => {
    const { outcomes } = await told({ eventName: 'crm/deal.won_2-x', eventId: 'e-1' });
    expect(outcomes).toMatchObject([{ eventName: 'crm/deal.won_2-x' }]);
  });

  it('is not told when it has more than 128 characters', async () => {
    const { outcomes } = await told({ eventName: 'x'.repeat(129), eventId: 'e-1' });
    expect(outcomes).toMatchObject([{ eventName: '[redacted]' }]);
  });

  it('is told whatever it looks like when it is configured', async () => {
    const events = { 'Deal won!': z.object({}) };
    const options = { events, on: { 'Deal won!': () => fail({}) } };
    const { outcomes } = await told({ eventName: 'Deal won!', eventId: 'e-1' }, options);
    expect(outcomes).toMatchObject([{ eventName: 'Deal won!' }]);
  });

  it('stays as it is in its dead letter, so that it can be found', async () => {
    const { letter } = await told({ eventName: 'Ada Lovelace', eventId: 'e-1' });
    expect(letter).toMatchObject({ eventName: 'Ada Lovelace' });
  });
});
