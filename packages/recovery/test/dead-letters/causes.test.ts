import { expect, it } from '@jest/globals';
import { causeId, causeOf, groupByCause } from '../../src/index.ts';

it.each([
  ['no contact "Ada Lovelace"', 'no contact …'],
  ["no contact 'c-17' of 'Ada L.'", 'no contact … of …'],
  ["the CRM can't find call-12, it's gone", "the CRM can't find …, it's gone"],
  ['The CRM responded 422: no contact 77', 'The CRM responded 422: no contact …'],
  ['it took 5031 ms', 'it took … ms'],
  ['timeout of 5000ms exceeded', 'timeout of …ms exceeded'],
  ['Unexpected token < in JSON at position 1021', 'Unexpected token < in JSON at position …'],
  ['GET https://crm.test/contacts?id=ada failed', 'GET https://crm.test/contacts… failed'],
  ['GET https://crm.test/contacts/c-17 failed', 'GET https://crm.test/contacts/… failed'],
  ['duplicate key at 2026-01-02T03:04:05.678Z [P2002]', 'duplicate key at … [P2002]'],
  ['unknown id 3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'unknown id …'],
  ['unknown id 01J9ZC4Q8W7V5T3R1N0M2K4H6G', 'unknown id …'],
  ['no lead 6650f3a1b2c3d4e5f6a7b8c9', 'no lead …'],
  ['call 1764266405.1234 is over', 'call … is over'],
  ['expected c-17 to have a phone number', 'expected … to have a phone number'],
  ['[redacted] is no number', '[redacted] is no number'],
  ['ids: c1, c2, c3', 'ids: …'],
  ['', ''],
])('the cause of %j', (error, cause) => {
  expect(causeOf({ error })).toBe(cause);
});

it.each([
  ['connect ECONNREFUSED 10.0.0.5:5432', 'connect ECONNREFUSED 10.0.0.5:6379'],
  ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED ::1:6379'],
  ['connect ECONNREFUSED 10.0.0.5:5432', 'connect ECONNREFUSED 10.0.0.6:5432'],
  ['connect ECONNREFUSED db-1.internal:5432', 'connect ECONNREFUSED db-2.internal:5432'],
  ['getaddrinfo ENOTFOUND crm-1.example.com', 'getaddrinfo ENOTFOUND crm-2.example.com'],
  ['no answer of https://crm1.test/contacts', 'no answer of https://crm2.test/contacts'],
  ['Prisma failed: P2002', 'Prisma failed: P1001'],
  ['Prisma failed (code: P2002)', 'Prisma failed (code: P1001)'],
  ['SQLSTATE 23505', 'SQLSTATE 40001'],
  ['SQLSTATE[22P02]: bad', 'SQLSTATE[42P01]: bad'],
  ['error 1062 of MySQL', 'error 1213 of MySQL'],
  ['ORA-00001: refused', 'ORA-00054: refused'],
  ['E11000 refused', 'E11600 refused'],
  ['Request failed with status code 422', 'Request failed with status code 500'],
  ['HTTP 429', 'HTTP 503'],
  [
    "TypeError: Cannot read properties of undefined (reading 'id')",
    "TypeError: Cannot read properties of undefined (reading 'email')",
  ],
  [
    "TypeError: Cannot read properties of null (reading 'address1')",
    "TypeError: Cannot read properties of null (reading 'address2')",
  ],
  ['relation "calls_v1" does not exist', 'relation "calls_v2" does not exist'],
  ['violates unique constraint "calls_pkey"', 'violates unique constraint "leads_pkey"'],
  ["Cannot find module 'pg'", "Cannot find module 'ioredis'"],
  ['invalid UTF-8', 'invalid UTF-16'],
])('%j and %j are two causes, and the text of each says which', (one, other) => {
  const [first, second] = [causeOf({ error: one }), causeOf({ error: other })];
  expect(first).not.toBe(second);
  expect([first, second]).toEqual([one, other]);
});

it('what identifies the event is left out wherever its error has it, and only there', () => {
  const of = (callId: string) => ({
    ...{ callId, key: `${callId}:call:completed`, webhookId: `msg-of-${callId}` },
    error: `${callId} is no contact (${callId}:call:completed, msg-of-${callId}), as alphabet is none`,
  });
  const cause = '… is no contact (…), as alphabet is none';
  expect(causeOf(of('alpha'))).toBe(cause);
  expect(causeOf(of('omega'))).toBe(cause);
});

it('a cause is short, and found in no time, whatever the error is', () => {
  const started = performance.now();
  for (const odd of [
    'a-'.repeat(5_000),
    '"'.repeat(9_999),
    "' ".repeat(5_000),
    '1:'.repeat(5_000),
    'a.'.repeat(5_000),
    'id 1'.repeat(999),
    '1.'.repeat(5_000),
  ])
    expect(causeOf({ error: odd }).length).toBeLessThanOrEqual(200);
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
