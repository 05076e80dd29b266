import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import {
  checkDeadLetterQuery,
  deadLetterId,
  storableName,
  toRecord,
} from '../../src/dead-letters/record.ts';
import { memoryDeadLetters } from '../../src/index.ts';
import type { DeadLetterQuery } from '../../src/stores.ts';

describe('dead letters in memory', () => {
  it('takes no more letters when it is full, but new failures of those it has', async () => {
    const deadLetters = memoryDeadLetters({ maxLetters: 2 });
    const first = deadLetter();
    await deadLetters.put(first);
    await deadLetters.put(deadLetter());
    await expect(deadLetters.put(deadLetter())).rejects.toThrow(
      'memoryDeadLetters is full: it already has 2',
    );
    await deadLetters.put(first);
    const { letters } = await deadLetters.list();
    expect(letters.map(({ history }) => history.length).sort()).toEqual([1, 2]);
    expect(await deadLetters.remove(letters[0]!.id)).toBe(true);
    await deadLetters.put(deadLetter());
    expect(await deadLetters.count()).toBe(2);
  });

  it('keeps the first failure of a letter and the last 49', async () => {
    const deadLetters = memoryDeadLetters();
    const letter = deadLetter();
    for (let attempt = 1; attempt <= 51; attempt++) await deadLetters.put({ ...letter, attempt });
    const { letters } = await deadLetters.list();
    expect(letters[0]!.history.map(({ attempt }) => attempt)).toEqual([
      1,
      ...Array.from({ length: 49 }, (_, index) => index + 3),
    ]);
  });

  it('has a clock of its own', async () => {
    const deadLetters = memoryDeadLetters();
    await deadLetters.put(deadLetter());
    const { id } = (await deadLetters.list()).letters[0]!;
    expect(await deadLetters.claim(id, { token: 'a', leaseMs: 60_000 })).toBeDefined();
    expect(await deadLetters.claim(id, { token: 'b', leaseMs: 60_000 })).toBeUndefined();
  });

  it('ends a claim exactly when its time is over, and says when that is', async () => {
    let now = 0;
    const deadLetters = memoryDeadLetters({ now: () => now });
    await deadLetters.put(deadLetter());
    const { id } = (await deadLetters.list()).letters[0]!;
    const before = Date.now();
    const claimed = await deadLetters.claim(id, { token: 'a', leaseMs: 60_000 });
    expect(claimed!.claimedUntil!.getTime()).toBeGreaterThanOrEqual(before + 60_000);
    now = 60_000;
    expect(await deadLetters.extend(id, 'a', 1_000)).toBe(false);
    expect(await deadLetters.claim(id, { token: 'b', leaseMs: 1 })).toBeDefined();
  });

  it('refuses options that mean nothing', () => {
    expect(() => memoryDeadLetters({ maxLetters: 0 })).toThrow(
      /Invalid options of memoryDeadLetters.*maxLetters/,
    );
  });
});

describe('a query of dead letters', () => {
  it.each<[object, string]>([
    [{ eventName: 7 }, 'eventName: expected the name of an event'],
    [{ reason: 'a handler-failed' }, "reason: expected 'handler-failed' or 'invalid-payload'"],
    [{ reason: 'handler-failed twice' }, "reason: expected 'handler-failed'"],
    [{ tenant: '' }, 'tenant: expected the name of a tenant, 1 to 128 characters'],
    [{ tenant: 'x'.repeat(129) }, 'tenant: expected the name of a tenant'],
    [{ cursor: 'x' }, 'This list never returned such a cursor'],
    [{ limits: 1 }, 'Invalid options of list'],
  ])('refuses %j, and says what it expects', (query, message) => {
    expect(() => checkDeadLetterQuery(query as DeadLetterQuery)).toThrow(message);
  });

  it('begins at the start without a cursor', () => {
    expect(checkDeadLetterQuery({})).toMatchObject({ after: undefined, since: 0, limit: 100 });
    expect(checkDeadLetterQuery({ cursor: 'z.a-1' }).after).toEqual({ failedAt: 35, id: 'a-1' });
  });

  it('has a cursor of 1,000 characters at most, whatever ids a list has', () => {
    const query = (length: number) => ({ cursor: 'z.'.padEnd(length, 'a') });
    const ids = () => true;
    expect(checkDeadLetterQuery(query(1_000), ids).after?.id).toHaveLength(998);
    expect(() => checkDeadLetterQuery(query(1_001), ids)).toThrow('never returned such a cursor');
  });

  it('has no next page when the letters fill exactly one', async () => {
    const deadLetters = memoryDeadLetters();
    for (let i = 0; i < 2; i++) await deadLetters.put(deadLetter());
    expect(await deadLetters.list({ limit: 2 })).not.toHaveProperty('cursor');
    expect(await deadLetters.list({ limit: 1 })).toHaveProperty('cursor');
  });
});

describe('the record of a dead letter', () => {
  it('has a short id, and empty names for the filter where the letter has none', async () => {
    const { eventName: _eventName, tenant: _tenant, ...letter } = deadLetter();
    expect(await deadLetterId(letter)).toMatch(/^[0-9a-f]{24}$/);
    expect(await toRecord(letter)).toMatchObject({ eventName: '', tenant: '' });
  });

  it('has names that every database can keep', () => {
    expect(storableName('x'.repeat(300))).toBe('x'.repeat(256));
    expect(storableName('a\0b\ud800')).toBe('a\ufffdb\ufffd');
  });
});
