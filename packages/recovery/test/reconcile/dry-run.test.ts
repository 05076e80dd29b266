import { describe, expect, it } from '@jest/globals';
import { memoryDeadLetters } from '@call-webhooks/core';
import { reconcile } from '@call-webhooks/recovery';
import { call, listing, clock, oldReceiver, since } from '../support/call-lists.ts';
import { HOUR, MINUTE, STARTED_AT, startWorld } from '../support/world.ts';

describe('a dry run', () => {
  it('says what was missed, known, failed and given up, and runs and keeps nothing', async () => {
    const world = await startWorld({
      receiver: { maxAttempts: 1, deadLetter: memoryDeadLetters() },
    });
    const { simulator, client, receiver, ruleId, failing, runs, clock } = world;
    const [first = '', known = ''] = await world.place(2);
    simulator.rules.pause(ruleId);
    const [missed = '', dead = ''] = await world.place(2);
    failing.add(dead);
    await receiver.deliver({ eventName: 'call:completed', callId: dead });
    await simulator.clock.advance('10m');
    const ran = runs.length;
    const found: Record<string, unknown> = {};
    const dryRun = async (store = receiver.store) =>
      reconcile({
        ...{ client, receiver, store, clock, dryRun: true, since: new Date(STARTED_AT) },
        onEvent: ({ callId, state, missed: isMissed, outcome }) => {
          found[callId] = [state, isMissed, outcome];
        },
      });
    const saved: unknown[] = [];
    const saveCursor = async (...given: unknown[]) => void saved.push(given);
    expect(await dryRun({ ...receiver.store, saveCursor })).toMatchObject({
      ...{ seen: 4, missed: 1, known: 2, inDeadLetters: 1, handled: 0, failed: 0 },
    });
    expect(found).toEqual({
      [first]: ['handled', false, undefined],
      [known]: ['handled', false, undefined],
      [missed]: [undefined, true, undefined],
      [dead]: ['dead-lettered', false, undefined],
    });
    expect([runs.length, saved]).toEqual([ran, []]);
    const real = await reconcile({ client, receiver, clock, since: new Date(STARTED_AT) });
    expect(real).toMatchObject({ missed: 1, known: 2, inDeadLetters: 1, handled: 1 });
    const { peek: _peek, ...blind } = receiver.store;
    await expect(dryRun(blind)).rejects.toThrow('the store has no peek()');
  });

  it('looks for the events of a tenant under its keys', async () => {
    const keys: string[] = [];
    const { receiver } = oldReceiver();
    const { client } = listing([[call(15)]]);
    const store = {
      rememberFor: 24 * HOUR,
      peek: async (asked: readonly string[]) => {
        keys.push(...asked);
        return [undefined];
      },
    };
    const result = await reconcile({
      ...{ client, receiver, store, since, clock, tenant: 'acme', dryRun: true },
      onEvent: ({ at }) => {
        expect(at).toEqual(new Date(STARTED_AT + 15 * HOUR + MINUTE));
      },
    });
    expect(result).toMatchObject({ missed: 1 });
    expect(keys).toEqual(['tenant:acme:c15:call:completed']);
  });
});
