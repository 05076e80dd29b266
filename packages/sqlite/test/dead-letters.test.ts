import * as runner from '@jest/globals';
import { describe, afterEach, beforeEach, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { deadLettersContractTests } from '@call-webhooks/store-tests';
import Database from 'libsql';
import { sqliteDeadLetters } from '../src/index.ts';
import { eachClient, freshFile, refusalsOf } from './support.ts';

describe('the contract of dead letters', () => {
  eachClient((client) => {
    deadLettersContractTests(runner, {
      name: `sqliteDeadLetters on ${client.name}, four connections`,
      open() {
        const { file, remove } = freshFile();
        const handles = Array.from({ length: 4 }, () => client.open(file));
        let ahead = 0;
        const now = () => Date.now() + ahead;
        const [deadLetters, ...others] = handles.map((handle) =>
          sqliteDeadLetters(handle, { now }),
        );
        return Promise.resolve({
          deadLetters: deadLetters!,
          others,
          advance: (ms) => void (ahead += ms),
          refusals: refusalsOf(handles, file),
          close() {
            for (const handle of handles) handle.close();
            remove();
            return Promise.resolve();
          },
        });
      },
    });
  });
});

describe('the life of a dead letter', () => {
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
  });
  afterEach(() => {
    db.close();
    place.remove();
  });

  it('claims, extends, gives back, settles and removes letters by the clock of the machine', async () => {
    const letters = sqliteDeadLetters(db);
    await letters.put(deadLetter({ key: 'first' }));
    await letters.put(deadLetter({ key: 'second' }));
    expect(await letters.count()).toBe(2);
    const { letters: listed } = await letters.list();
    const [first, second] = listed.map(({ id }) => id) as [string, string];

    const before = Date.now();
    const claimed = await letters.claim(first, { token: 'one', leaseMs: 60_000 });
    const until = claimed!.claimedUntil!.getTime() - 60_000;
    expect(until).toBeGreaterThanOrEqual(before);
    expect(until).toBeLessThanOrEqual(Date.now() + 1);
    expect(await letters.claim(first, { token: 'two', leaseMs: 60_000 })).toBeUndefined();
    expect(await letters.extend(first, 'one', 90_000)).toBe(true);
    expect(await letters.extend(first, 'two', 90_000)).toBe(false);
    expect(await letters.giveBack(first, 'one')).toBe(true);

    await letters.claim(first, { token: 'two', leaseMs: 60_000 });
    const failure = { at: new Date(), source: 'redrive', attempt: 4, error: 'Error: no' } as const;
    expect(await letters.giveBack(first, 'two', failure)).toBe(true);
    expect(await letters.get(first)).toMatchObject({ failedAt: failure.at, attempt: 4 });

    await letters.claim(first, { token: 'three', leaseMs: 60_000 });
    expect(await letters.settle(first, 'three')).toBe(true);
    expect(await letters.remove(second)).toBe(true);
    expect(await letters.count()).toBe(0);
  });
});
