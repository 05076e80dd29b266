import { expect, it } from '@jest/globals';
import { causeId, causeOf, groupByCause } from '../../src/internal.ts';

it.each([
  ['no contact "Ada"', 'no contact …'],
  ["no contact 'c-17' of 'Ada'", 'no contact … of …'],
  ["the CRM can't find call-12, it's gone", "the CRM can't find …, it's gone"],
  ['The CRM responded 422: no contact 77', 'The CRM responded 422: no contact …'],
  ['Request failed with status code 503', 'Request failed with status code 503'],
  ['it took 5031 ms', 'it took … ms'],
  ['connect ECONNREFUSED 10.0.0.5:443', 'connect ECONNREFUSED …'],
  ['GET https://crm.test/contacts?id=ada failed', 'GET https://crm.test/contacts… failed'],
  ['duplicate key at 2026-01-02T03:04:05.678Z [P2002]', 'duplicate key at … [P2002]'],
  ['unknown id 3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'unknown id …'],
  ['[redacted] is no number', '[redacted] is no number'],
  ['ids: c1, c2, c3', 'ids: …'],
  ['', ''],
])('the cause of %j', (error, cause) => {
  expect(causeOf(error)).toBe(cause);
});

it('a cause is short, and found in no time, whatever the error is', () => {
  const started = performance.now();
  for (const odd of ['a-'.repeat(5_000), '"'.repeat(9_999), "' ".repeat(5_000), '1:'.repeat(5_000)])
    expect(causeOf(odd).length).toBeLessThanOrEqual(200);
  expect(performance.now() - started).toBeLessThan(1_000);
});

it('dead letters are grouped by cause: how many, since when, which events, and the latest', async () => {
  const letter = (id: string, error: string, at: number, eventName = 'call:completed') => ({
    ...{ id, error, eventName, failedAt: new Date(at) },
    history: [{ at: new Date(at - 5), source: 'webhook' as const, attempt: 1, error }],
  });
  const causes = await groupByCause([
    letter('l1', 'no contact c-1', 100),
    letter('l2', 'the CRM is down', 400),
    letter('l3', 'no contact c-3', 300, 'call:started'),
    letter('l4', 'no contact c-2', 200),
  ]);
  expect(causes).toEqual([
    {
      id: await causeId('no contact …'),
      text: 'no contact …',
      count: 3,
      firstAt: new Date(95),
      lastAt: new Date(300),
      eventNames: ['call:completed', 'call:started'],
      example: { id: 'l3', error: 'no contact c-3' },
    },
    expect.objectContaining({ text: 'the CRM is down', count: 1 }),
  ]);
});
