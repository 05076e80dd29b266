import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { memoryDeadLetters } from '@call-webhooks/core';
import type { OutcomeLog } from '@call-webhooks/core/stores';
import type { DeliveriesPage, FailureCauses, PersonFound } from '../src/api-types.ts';
import { NOW, open } from './support.ts';

// A search of a long log, or of many letters, ends within seconds, and its page says that it can go on.

afterEach(() => {
  jest.restoreAllMocks();
});

/** The clock of searches goes on by so much with each read. */
function slow(ms: number) {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  return () => void (now += ms);
}

/** A console whose log has no end. Each read takes so long, and has so many rows. */
function withLog(ms: number, rows: number, failures = 0) {
  const opened = open();
  const read = slow(ms);
  const sizes: unknown[] = [];
  jest.spyOn(opened.log, 'read').mockImplementation(({ batches, until, before, only } = {}) => {
    if (until !== undefined && only === undefined) return Promise.resolve({ rows: [] }); // how far back it goes
    read();
    sizes.push(batches);
    const row = { ...ROW, ...(only && { outcome: 'handler-failed' as const, error: 'no' }) };
    const all = Array.from({ length: only ? failures : rows }, () => row);
    return Promise.resolve({ rows: all, before: before ?? 'more' });
  });
  return { ...opened, sizes };
}
const ROW: Awaited<ReturnType<OutcomeLog['read']>>['rows'][number] = {
  ...{ at: NOW, process: 'p1', source: 'webhook', outcome: 'handled', durationMs: 1 },
  ...{ webhookId: 'w1', eventName: 'call:started', attempt: 1 },
};

describe('a search of the log', () => {
  it.each([
    [1_000, [2, 4, 8]],
    [1_001, [2, 4]],
    [200, [2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64]],
  ])('whose reads take %d ms ends after 2 s: %j batches', async (ms, batches) => {
    const { get, sizes } = withLog(ms, 1);
    const page = await get<DeliveriesPage>('/api/deliveries?text=nothing');
    expect([page.deliveries, page.searched, page.before]).toEqual([[], batches.length, 'more']);
    expect(sizes).toEqual(batches);
  });
});

describe('the causes of failures', () => {
  it.each([
    ['within 2 s', 1_000, 3, 6],
    ['within 2 s', 999, 3, 9],
    ['with 10,000 rows', 1, 1_000, 10_000],
    ['with 10,000 rows', 1, 1_001, 10_010],
  ])('end %s: reads of %d ms with %d rows', async (_why, ms, rows, failures) => {
    const { get } = withLog(ms, 0, rows);
    const found = await get<FailureCauses>('/api/failures');
    // They reach back to the last row that was read.
    expect([found.failures, found.searchedTo]).toEqual([failures, NOW]);
  });
});

describe('a search for a person', () => {
  it.each([
    [1_000, 96],
    [999, 128],
  ])('whose 32 bodies take %d ms ends after 3 s: %d letters', async (ms, searched) => {
    const deadLetters = memoryDeadLetters();
    for (let at = 0; at < 200; at++)
      await deadLetters.put({
        ...{ reason: 'handler-failed', eventName: 'call:completed', attempt: 1, error: undefined },
        ...{ webhookId: `w${String(at)}`, key: `c${String(at)}:x`, source: 'webhook' },
        ...{ timestamp: new Date(NOW), failedAt: new Date(NOW + at), errorText: 'no' },
        rawBody: new TextEncoder().encode('{"name":"Grace"}'),
      });
    const { post } = open({ deadLetters });
    const read = slow(ms / 32);
    const { get } = deadLetters;
    jest.spyOn(deadLetters, 'get').mockImplementation((id) => {
      read();
      return get(id);
    });
    const found = await post<PersonFound>('/api/dead-letters/search', { about: 'Ada' });
    expect([found.letters, found.searched, typeof found.before]).toEqual([[], searched, 'string']);
  });
});
