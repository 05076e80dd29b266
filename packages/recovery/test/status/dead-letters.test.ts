import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { memoryDeadLetters } from '@call-webhooks/core';
import { counterName, type EventState, type OutcomeRow } from '@call-webhooks/core/stores';
import { status, type StatusOptions } from '@call-webhooks/recovery';
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

  const row = (age: number): OutcomeRow => ({
    ...{ at: NOW - age, process: 'p', durationMs: 1, source: 'webhook', attempt: 3 },
    ...{ outcome: 'dead-lettered', webhookId: String(age), key: `c${String(age)}` },
    eventName: 'call:completed',
  });

  it('are only a note of the tenant once somebody has removed them, and nothing once they are handled', async () => {
    const [oldest, newest, other] = [row(5 * HOUR), row(HOUR), row(2 * HOUR)];
    const failures = [oldest, { ...other, tenant: 'globex' }, newest];
    const counts = { minutes: { [NOW / MINUTE - 60]: { [name]: 3 } } };
    const written = await storeWith({ failures, counts, marks: { [ack('call:completed')]: NOW } });
    const states = new Map<string, EventState>(
      failures.map(({ key = '' }) => [key, 'dead-lettered'] as const),
    );
    const store = {
      ...written,
      peek: async (keys: readonly string[]) => keys.map((key) => states.get(key)),
    };
    const deadLetters = memoryDeadLetters();
    const told = async () => {
      const { attention, notes, events } = await status({ store, deadLetters, timeZone: 'UTC' });
      return { attention, notes, states: events.map(({ state }) => state) };
    };
    const gone = (text: string) =>
      `${text} removed or erased, or the receiver keeps its dead letters in another store. Dead letters cannot pause the rule.`;
    const note = (count: string, text: string) => ({
      text: gone(`${count} \`call:completed\` ${text}`),
    });
    expect(await told()).toEqual({
      attention: [],
      notes: [
        note(
          '2',
          'events have become dead letters since 09:00 UTC. Nothing has handled them since, and they do not wait in the dead-letter store: they were',
        ),
        {
          tenant: 'globex',
          ...note(
            '1',
            'event has become a dead letter since 12:00 UTC. Nothing has handled it since, and it does not wait in the dead-letter store: it was',
          ),
        },
      ],
      states: ['arrives'],
    });
    for (const { key = '' } of [oldest, other]) states.set(key, 'handled');
    expect((await told()).notes).toEqual([
      note(
        '1',
        'event has become a dead letter since 13:00 UTC. Nothing has handled it since, and it does not wait in the dead-letter store: it was',
      ),
    ]);
    await deadLetters.put(letterAt(9 * HOUR, 'another'));
    expect(await told()).toMatchObject({ attention: [{ count: 1 }], notes: [] });
  });

  it('are those of the log, since the first one, if they cannot be read', async () => {
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

  it('are counted by the log exactly without tenants, also those whose rows are gone', async () => {
    const counted = (kind: string, source: string, outcome = 'dead-lettered') =>
      counterName(kind, source, outcome, 'call:completed');
    const counters = {
      ...{ [name]: 700, [counted('outcome', 'queue')]: 60, [counted('late', 'webhook')]: 5 },
      // These were dead letters before, or are none.
      ...{ [counted('outcome', 'redrive')]: 9_000, [counted('late', 'redrive')]: 9_000 },
      [counted('outcome', 'webhook', 'in-dead-letters')]: 9_000,
    };
    const counts = { minutes: { [NOW / MINUTE - 30]: counters } };
    const { attention } = await status({ store: await storeWith({ counts }) });
    expect(attention).toMatchObject([{ kind: 'failing', urgent: false, count: 765 }]);
    expect(attention[0]?.tenant).toBeUndefined();
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

  const REFUSED = 'Error: connect ECONNREFUSED 10.0.0.5:5432';
  const item = (more: object) => ({
    ...{ kind: 'failing', urgent: false, eventName: 'call:completed' },
    fix: 'Look at the dead letters, fix the cause, and redrive them.',
    docs: 'https://call-webhooks.github.io/call-webhooks/status.html#failing',
    ...more,
  });

  it('are told since the first failure of the oldest one, whatever a redrive has done since', async () => {
    const deadLetters = memoryDeadLetters();
    for (const [hours, key] of [
      [5, 'c1'],
      [3, 'c2'],
      [2, 'c3'],
    ] as const)
      await deadLetters.put(letterAt(hours * HOUR, key));
    const { letters } = await deadLetters.list();
    const id = letters.find(({ key }) => key === 'c1')!.id;
    await deadLetters.claim(id, { token: 't', leaseMs: 60_000 });
    await deadLetters.giveBack(id, 't', {
      ...{ at: new Date(NOW - MINUTE), source: 'redrive', attempt: 9, error: 'Error: no contact' },
    });
    const marks = { [ack('call:completed')]: NOW - MINUTE };
    const store = await storeWith({ marks });
    expect((await status({ store, deadLetters, timeZone: 'UTC' })).attention).toEqual([
      item({
        ...{ since: NOW - 5 * HOUR, count: 3 },
        text: `3 \`call:completed\` events are dead letters, the oldest one since 09:00 UTC. The most frequent error is \`${REFUSED}\` (2 of 3 failures). Dead letters cannot pause the rule.`,
      }),
    ]);
  });

  it('are told of each event and tenant, and of those that no delivery names', async () => {
    const deadLetters = memoryDeadLetters();
    for (const [tenant, key, hours, eventName] of [
      ['acme', 'a', 4, 'call:completed'],
      ['acme', 'b', 3, 'call:started'],
      ['globex', 'c', 6, 'call:completed'],
      ['globex', 'd', 5, 'call:completed'],
      [undefined, 'e', 9, 'call:completed'],
    ] as const)
      await deadLetters.put({
        ...letterAt(hours * HOUR, key, eventName),
        ...(tenant !== undefined && { tenant }),
      });
    const marks = {
      [ack('call:completed', 'acme')]: NOW - MINUTE,
      [ack('call:started', 'acme')]: NOW - MINUTE,
      [ack('call:completed', 'globex')]: NOW - MINUTE,
    };
    const store = await storeWith({ marks });
    const { attention } = await status({ store, deadLetters, timeZone: 'UTC' });
    const one = (name: string, time: string) =>
      `1 ${name} has been a dead letter since ${time} UTC. The error was \`${REFUSED}\`. Dead letters cannot pause the rule.`;
    const { eventName: _, ...others } = item({
      ...{ since: NOW - 9 * HOUR, count: 1 },
      // Of whom it is, and of which event, nobody knows: their errors are those of all.
      text: `1 event has been a dead letter since 05:00 UTC. Each time, the error was \`${REFUSED}\`. Dead letters cannot pause the rule.`,
    });
    expect(attention).toEqual([
      others,
      item({
        ...{ tenant: 'globex', since: NOW - 6 * HOUR, count: 2 },
        text: `2 \`call:completed\` events are dead letters, the oldest one since 08:00 UTC. Each time, the error was \`${REFUSED}\`. Dead letters cannot pause the rule.`,
      }),
      item({
        ...{ tenant: 'acme', since: NOW - 4 * HOUR, count: 1 },
        text: one('`call:completed` event', '10:00'),
      }),
      item({
        ...{ tenant: 'acme', eventName: 'call:started', since: NOW - 3 * HOUR, count: 1 },
        text: one('`call:started` event', '11:00'),
      }),
    ]);
  });

  it('of a queue say nothing of those that the receivers have, and the other way round', async () => {
    const ofQueue = counterName('outcome', 'queue', 'dead-lettered', 'call:started');
    const counts = { minutes: { [NOW / MINUTE - 30]: { [name]: 2, [ofQueue]: 3 } } };
    const store = await storeWith({ counts });
    const none = memoryDeadLetters();
    const jobs = { count: none.count, list: none.list, requeue: async () => false };
    const told = async (deadLetters: StatusOptions['deadLetters']) =>
      (await status({ store, deadLetters })).attention.map(({ eventName, count }) => [
        ...[eventName, count],
      ]);
    expect(await told(none)).toEqual([['call:started', 3]]);
    expect(await told(jobs)).toEqual([['call:completed', 2]]);
  });

  it('are counted together if there are more than 100 names', async () => {
    const deadLetters = memoryDeadLetters();
    for (const [hours, key] of [
      [2, 'c1'],
      [1, 'c2'],
    ] as const)
      await deadLetters.put(letterAt(hours * HOUR, key));
    const told = async (names: number) => {
      const marks = Object.fromEntries(
        ['call:completed', ...Array.from({ length: names - 1 }, (_, at) => `e${String(at)}`)].map(
          (eventName) => [ack(eventName), NOW - MINUTE],
        ),
      );
      const store = await storeWith({ marks });
      return (await status({ store, deadLetters })).attention.map(({ eventName, count, since }) => [
        eventName,
        count,
        since,
      ]);
    };
    expect(await told(100)).toEqual([['call:completed', 2, NOW - 2 * HOUR]]);
    expect(await told(101)).toEqual([[undefined, 2, NOW - 2 * HOUR]]);
  });
});
