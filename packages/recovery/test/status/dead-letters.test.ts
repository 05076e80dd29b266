import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { memoryDeadLetters } from '@call-webhooks/core';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { status } from '@call-webhooks/recovery';
import { HOUR, MINUTE } from './service-model.ts';
import { ack, NOW, storeWith } from './written-log.ts';

const name = counterName('outcome', 'webhook', 'dead-lettered', 'call:completed');
const letterAt = (age: number, key: string, eventName = 'call:completed') =>
  deadLetter({
    ...{ failedAt: new Date(NOW - age), key, eventName },
    errorText: 'Error: connect ECONNREFUSED 10.0.0.5:5432',
  });

describe('dead letters that wait', () => {
  it('are told for as long as they wait, with the oldest one and their most frequent error', async () => {
    const deadLetters = memoryDeadLetters();
    await deadLetters.put(letterAt(9 * 24 * HOUR, 'c1'));
    await deadLetters.put(letterAt(30 * MINUTE, 'c2'));
    await deadLetters.put(letterAt(2 * HOUR, 'c3', 'call:never-seen'));
    const marks = { [ack('call:completed')]: NOW - MINUTE };
    const counts = { minutes: { [NOW / MINUTE - 30]: { [name]: 1 } } };
    const store = await storeWith({ marks, counts });
    const { attention } = await status({ store, deadLetters, timeZone: 'UTC' });
    expect(attention).toMatchObject([
      { kind: 'failing', urgent: false, count: 2, since: NOW - 9 * 24 * HOUR },
      { kind: 'failing', urgent: false, count: 1 },
    ]);
    expect(attention[0]?.text).toBe(
      '2 `call:completed` events are dead letters, the oldest one since 24 Oct 14:00 UTC. Each time, the error was `Error: connect ECONNREFUSED 10.0.0.5:5432`. Dead letters cannot pause the rule.',
    );
    expect(attention[0]?.fix).not.toContain('Read the error in the log line');
    const { letters } = await deadLetters.list();
    for (const { id } of letters) await deadLetters.remove(id);
    expect((await status({ store, deadLetters })).attention).toEqual([]);
  });

  it('are those of the log, since the first one, if they cannot be read', async () => {
    const row = (age: number): OutcomeRow => ({
      ...{ at: NOW - age, process: 'p', durationMs: 1, source: 'webhook', attempt: 3 },
      ...{ outcome: 'dead-lettered', webhookId: String(age), key: `c${String(age)}` },
      eventName: 'call:completed',
    });
    const failures = [row(5 * HOUR), row(HOUR + MINUTE)];
    const counts = {
      minutes: {
        [NOW / MINUTE - 300]: { [name]: 1 },
        [NOW / MINUTE - 61]: { [name]: 1 },
      },
    };
    const store = await storeWith({ failures, counts });
    const unreadable = {
      count: () => Promise.reject(new Error('down')),
      list: () => Promise.reject(new Error('down')),
    };
    for (const deadLetters of [undefined, unreadable])
      expect((await status({ store, deadLetters })).attention).toMatchObject([
        { kind: 'failing', urgent: false, count: 2, since: NOW - 5 * HOUR },
      ]);
  });

  it('are told of their tenants alone', async () => {
    const deadLetters = memoryDeadLetters();
    for (const [tenant, key] of [
      ['acme', 'a'],
      ['globex', 'b'],
      ['globex', 'c'],
    ] as const)
      await deadLetters.put({ ...letterAt(HOUR, key), tenant });
    const marks = {
      [ack('call:completed', 'acme')]: NOW - MINUTE,
      [ack('call:completed', 'globex')]: NOW - MINUTE,
    };
    const { attention } = await status({ store: await storeWith({ marks }), deadLetters });
    expect(attention.map(({ tenant, count }) => [tenant, count])).toEqual([
      ['acme', 1],
      ['globex', 2],
    ]);
  });
});
