import { deadLetter } from '@call-webhooks/contract-tests';
import { describe, expect, it } from '@jest/globals';
import { checkDeadLetterQuery } from '../../src/dead-letters/query.ts';
import { deadLetterId, storableName, toRecord } from '../../src/dead-letters/record.ts';
import { memoryDeadLetters } from '../../src/index.ts';
import type { DeadLetterQuery } from '../../src/stores.ts';

describe('a query of dead letters', () => {
  it.each<[object, string]>([
    [{ eventName: 7 }, 'eventName: expected the name of an event'],
    [{ reason: 'a handler-failed' }, "reason: expected 'handler-failed' or 'invalid-payload'"],
    [{ reason: 'handler-failed twice' }, "reason: expected 'handler-failed'"],
    [{ tenant: '' }, 'tenant: expected the name of a tenant, 1 to 128 characters'],
    [{ tenant: 'x'.repeat(129) }, 'tenant: expected the name of a tenant'],
    [{ cursor: 'x' }, 'cursor: expected the cursor of a page'],
    [{ limits: 1 }, 'Invalid options of list'],
  ])('refuses %j, and says what it expects', (query, message) => {
    expect(() => checkDeadLetterQuery(query as DeadLetterQuery)).toThrow(message);
  });

  it('begins at the start without a cursor', () => {
    expect(checkDeadLetterQuery({})).toMatchObject({ after: undefined, since: 0, limit: 100 });
    expect(checkDeadLetterQuery({ cursor: 'z.a-1' }).after).toEqual({ failedAt: 35, id: 'a-1' });
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
