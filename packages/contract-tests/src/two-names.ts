import { expect, it } from '@jest/globals';
import type { DeadLetters, Store } from '@call-webhooks/core';
import { deadLetterId, type OutcomeRow } from '@call-webhooks/core/stores';
import { deadLetter } from '@call-webhooks/store-tests/internal';

/** A store and its dead letters, in a database that has others. */
export interface Named {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
}

/**
 * Registers the test that two stores in one database, under two prefixes or in two schemas, have nothing in common.
 * @param open opens what has this name: lower-case letters
 */
export function twoNamesTest(open: (name: string) => Named | Promise<Named>): void {
  it('keeps two names in one database apart: events, groups, cursors, the outcome log and dead letters', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const now = Date.now();
    const claim = { webhookId: 'webhook', key: 'event', group: 'group', leaseMs: 60_000 };
    for (const { store } of [one, two])
      expect(await store.admit({ ...claim, token: 'token', replayUntil: now + 600_000 })).toEqual({
        status: 'admitted',
        attempt: 1,
      });
    expect(await one.store.complete('event', 'token', 'dead-lettered')).toBe(true);
    await one.store.saveCursor!('cursor', 'here');
    const row: OutcomeRow = {
      ...{ at: now, process: 'p1', durationMs: 1, webhookId: 'webhook' },
      outcome: 'handled',
      source: 'webhook',
    };
    const minute = Math.floor(now / 60_000);
    await one.store.log!.append({
      id: 'batch',
      process: { id: 'p1', host: 'h', pid: 1, startedAt: now, at: now, inFlight: 0 },
      rows: [row],
      failures: [{ ...row, outcome: 'handler-failed' }],
      counts: { minutes: { [minute]: { counter: 1 } } },
      marks: { mark: now },
    });
    const letter = deadLetter();
    await one.deadLetters.put(letter);
    const id = await deadLetterId(letter);

    async function knownTo({ store, deadLetters }: Named) {
      const log = store.log!;
      return {
        event: await store.peek!(['event']),
        cursor: await store.loadCursor!('cursor'),
        rows: (await log.read()).rows.length,
        counters: [...(await log.counts('minutes', minute - 1, minute + 1)).values()],
        marks: Object.keys((await log.marks()).marks),
        processes: (await log.processes()).length,
        letters: (await deadLetters.list()).letters.length,
        count: await deadLetters.count(),
        letter: (await deadLetters.get(id))?.id,
      };
    }
    expect(await knownTo(one)).toEqual({
      ...{ event: ['dead-lettered'], cursor: 'here', rows: 2, counters: [{ counter: 1 }] },
      ...{ marks: ['mark'], processes: 1, letters: 1, count: 1, letter: id },
    });
    const nothing = { rows: 0, counters: [], marks: [], processes: 0, letters: 0, count: 0 };
    expect(await knownTo(two)).toEqual({
      ...{ event: ['running'], cursor: undefined, ...nothing, letter: undefined },
    });

    expect(await two.store.reopen!('event')).toBe(false);
    expect(await two.store.log!.erase({ before: now + 600_000 })).toBe(0);
    expect(await two.deadLetters.claim(id, { token: 'token', leaseMs: 60_000 })).toBeUndefined();
    expect(await two.deadLetters.remove(id)).toBe(false);
    const turn = { before: new Date(now + 600_000), limit: 10, leaseMs: 60_000 };
    expect(await two.deadLetters.removeExpired!({ ...turn, token: 'of two' })).toBe(0);
    expect(await two.store.forget!(['event'])).toBe(0);
    expect(await knownTo(one)).toMatchObject({ event: ['dead-lettered'], rows: 2, count: 1 });
    // It is the turn of the other one only where that is.
    expect(await one.deadLetters.removeExpired!({ ...turn, token: 'of one' })).toBe(1);
  });
}
