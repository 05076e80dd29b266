import { describe, expect, it } from '@jest/globals';
import { queued } from '@call-webhooks/contract-tests';
import type { QueuedDelivery } from '../../src/index.ts';
import { deadJobLetter, deadJobList, type DeadLetterFilter } from '../../src/stores.ts';

const INVALID = 'The body is no JSON.';

/** A dead job that failed at this second. */
const dead = (id: string, second: number, job: Partial<QueuedDelivery>, error = 'no') =>
  deadJobLetter({
    ...{ id, attempt: 3, error, failedAt: new Date(second * 1_000) },
    delivery: queued(Buffer.from('{}'), job),
  });

/** In the order of an engine: by time, then by id. */
const LETTERS = [
  dead('a', 1, { eventName: 'call:started', tenant: 'acme' }),
  dead('b', 2, { eventName: 'call:started', tenant: 'globex' }, INVALID),
  dead('c', 2, { eventName: 'call:completed', tenant: 'acme' }),
  dead('d', 3, { eventName: 'call:completed' }),
  dead('e', 4, { tenant: 'acme' }, INVALID),
  dead('f', 5, { eventName: 'half\ud800', tenant: 'nul\0' }),
];
const second = (seconds: number) => new Date(seconds * 1_000);

/** The dead jobs of an engine that has these letters, and the ids of those that were read. */
function setup() {
  const read: string[] = [];
  const jobs = deadJobList(async function* ({ since, until, after }) {
    for (const letter of LETTERS) {
      const { id } = letter;
      const at = letter.failedAt.getTime();
      const isBefore = after && (at < after.failedAt || (at === after.failedAt && id <= after.id));
      if (at < since || at >= until || isBefore) continue;
      read.push(await Promise.resolve(id));
      yield letter;
    }
  });
  return { jobs, read };
}

describe('the dead jobs of a queue', () => {
  it.each<[string, DeadLetterFilter | undefined, string]>([
    ['all of them', undefined, 'abcdef'],
    ['all of them, without a condition', {}, 'abcdef'],
    ['those of an event', { eventName: 'call:started' }, 'ab'],
    ['those of an event whose name is no valid text', { eventName: 'half\ud800' }, 'f'],
    ['those of a tenant, and none without one', { tenant: 'acme' }, 'ace'],
    ['those of a tenant with a NUL in its name', { tenant: 'nul\0' }, 'f'],
    ['those whose handler failed', { reason: 'handler-failed' }, 'acdf'],
    ['those that no retry can help', { reason: 'invalid-payload' }, 'be'],
    ['those since a time', { since: second(3) }, 'def'],
    ['those before a time', { until: second(3) }, 'abc'],
    ['those of a period', { since: second(2), until: second(4) }, 'bcd'],
    ['those that meet two conditions', { tenant: 'acme', eventName: 'call:started' }, 'a'],
    [
      'those of an event and a reason',
      { eventName: 'call:started', reason: 'handler-failed' },
      'a',
    ],
    ['none', { eventName: 'call:moved' }, ''],
  ])('can be listed and counted: %s', async (_name, filter, ids) => {
    const { jobs } = setup();
    const { letters } = await jobs.list(filter);
    expect(letters.map(({ id }) => id).join('')).toBe(ids);
    expect(await jobs.count(filter)).toBe(ids.length);
  });

  it.each<[string, DeadLetterFilter, number, string[]]>([
    ['of all', {}, 2, ['ab', 'cd', 'ef']],
    ['of all, the last one shorter', {}, 4, ['abcd', 'ef']],
    ['of a tenant', { tenant: 'acme' }, 1, ['a', 'c', 'e']],
    ['of one page', {}, 6, ['abcdef']],
  ])('come in pages, each once: %s', async (_name, filter, limit, expected) => {
    const { jobs } = setup();
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await jobs.list({ ...filter, limit, cursor });
      pages.push(page.letters.map(({ id }) => id).join(''));
      cursor = page.cursor;
    } while (cursor !== undefined && pages.length < LETTERS.length);
    expect(pages).toEqual(expected);
  });

  it('are read only as far as a page needs', async () => {
    const { jobs, read } = setup();
    await jobs.list({ limit: 2 });
    expect(read).toEqual(['a', 'b', 'c']); // the third shows that there is another page
  });

  it('are not read for a query that is not valid', async () => {
    const { jobs, read } = setup();
    await expect(jobs.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(jobs.count({ tenant: '' })).rejects.toMatchObject({ code: 'invalid-options' });
    expect(read).toEqual([]);
  });
});
