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
  ['Lead 42 is locked by job 7', 'Lead … is locked by job …'],
  ['no call-17, lead_42', 'no …'],
  ['Key (email)=(17) already exists', 'Key (email)=(…) already exists'],
  ["Duplicate entry 'Ada' for key 'calls.email1'", "Duplicate entry … for key 'calls.email1'"],
  ['invalid input syntax for type uuid: "x"', 'invalid input syntax for type uuid: …'],
  ['Unexpected token A, "Ada L..." is not valid JSON', 'Unexpected token A, … is not valid JSON'],
  ['GET /contacts/17 responded 404', 'GET /contacts/… responded 404'],
  ['locked since Fri, 27 Nov 2026 21:41:46 GMT', 'locked since …'],
  ['locked since 21:41:46', 'locked since …'],
  ['got 17 rows, expected 1', 'got … rows, expected 1'],
  ['request req_a1b2c3d4 failed', 'request … failed'],
  ['no session deadbeef12', 'no session …'],
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
  ['The CRM responded 422', 'The CRM responded 503'],
  ['(403) Forbidden', '(404) Forbidden'],
  ['{"status":500}', '{"status":503}'],
  ['{"code":"E1001"}', '{"code":"E1002"}'],
  ['AADSTS50011: refused', 'AADSTS700016: refused'],
  ['rpc error: code = 14', 'rpc error: code = 4'],
  ['HRESULT 0x80070005', 'HRESULT 0x80004005'],
  ['errno: -111', 'errno: -110'],
  ['no route to host db1', 'no route to host db2'],
  ['upstream crm1:8080 is unavailable', 'upstream crm2:8080 is unavailable'],
  ['no response from node-7.crm.local', 'no response from node-8.crm.local'],
  ['amqp://mq1 closed', 'amqp://mq2 closed'],
  ["Can't reach database server at `db1`:`5432`", "Can't reach database server at `db1`:`5433`"],
  ['the lock-1 is held', 'the lock-2 is held'],
  ['contact.address1 is undefined', 'contact.address2 is undefined'],
  ['"address1" is required', '"address2" is required'],
  ['address.line1 is required', 'address.line2 is required'],
  ['missing field: custom_field_1', 'missing field: custom_field_2'],
  ['No such column Phone1__c', 'No such column Phone2__c'],
  ['column c1.name1 does not exist', 'column c1.name2 does not exist'],
  [
    'Unique constraint failed on the fields: (`lead_1`)',
    'Unique constraint failed on the fields: (`lead_2`)',
  ],
  ["Table 'crm.calls1' doesn't exist", "Table 'crm.calls2' doesn't exist"],
  ['permission denied for schema crm1', 'permission denied for schema crm2'],
  ['E11000 duplicate key, index: email_1', 'E11000 duplicate key, index: phone_1'],
  ['violates constraint fk_1', 'violates constraint fk_2'],
  ["ENOENT: no such file, open '/etc/a.json'", "ENOENT: no such file, open '/etc/b.json'"],
  ['POST /v1/contacts responded 500', 'POST /v2/contacts responded 500'],
])('%j and %j are two causes, and the text of each says which', (one, other) => {
  const [first, second] = [causeOf({ error: one }), causeOf({ error: other })];
  expect(first).not.toBe(second);
  expect([first, second]).toEqual([one, other]);
});

it('the code at the end of a long error tells its cause', () => {
  const long = (code: string) =>
    causeOf({ error: `Invalid invocation ${'of it '.repeat(900)}[${code}]` });
  expect(long('P2002')).not.toBe(long('P1001'));
  expect(long('P2002')).toMatch(/^Invalid invocation .*\[P2002\]$/);
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

it('a cause has up to 400 characters, and of a longer one the beginning and the end', () => {
  const error = `no ${'way '.repeat(98)}home.`;
  expect([error.length, causeOf({ error })]).toEqual([400, error]);
  const longer = causeOf({ error: `${error} Go!` });
  expect(longer).toHaveLength(400);
  expect([longer.startsWith('no way way'), longer.endsWith(' way home. Go!')]).toEqual([
    true,
    true,
  ]);
  expect(longer.split('…')).toHaveLength(2);
});

it('a cause is short, and found in no time, whatever the error is', () => {
  const started = process.cpuUsage();
  for (const odd of [
    'a-'.repeat(5_000),
    '"'.repeat(9_999),
    "' ".repeat(5_000),
    '1:'.repeat(5_000),
    'a.'.repeat(5_000),
    'id 1'.repeat(999),
    '1.'.repeat(5_000),
    `${'a'.repeat(1_900)}123`,
    'host '.repeat(400),
    'aa1'.repeat(600),
    '2a::'.repeat(500),
    'a/'.repeat(900),
  ])
    expect(causeOf({ error: odd }).length).toBeLessThanOrEqual(400);
  expect(process.cpuUsage(started).user).toBeLessThan(1_000_000); // microseconds
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

it('groups have each its own figures, the most frequent first, then the one that failed last', async () => {
  const letter = (id: string, error: string, times: readonly number[], eventName?: string) => ({
    ...{ id, error, failedAt: new Date(times.at(-1)!), ...(eventName && { eventName }) },
    history: times.map((at, index) => ({
      ...{ at: new Date(at), source: 'redrive' as const, attempt: index + 1, error },
    })),
  });
  const group = async (text: string, more: object) => ({ id: await causeId(text), text, ...more });
  const causes = await groupByCause([
    letter('a1', 'ENOENT', [300, 500, 900], 'call:started'),
    letter('b1', 'EPIPE', [100, 200, 990], 'call:completed'),
    letter('a2', 'ENOENT', [50, 60, 70], 'call:completed'),
    letter('c1', 'ECONNRESET', [800]),
    letter('e1', 'EBUSY', [700, 860]),
    letter('b2', 'EPIPE', [400, 990]),
    { ...letter('d1', 'EOF', [850], 'Ada Lovelace'), history: [] },
    letter('a3', 'ENOENT', [600, 880], 'call:started'),
  ]);
  expect(causes).toEqual([
    await group('ENOENT', {
      ...{ count: 3, firstAt: new Date(50), lastAt: new Date(900) },
      ...{ eventNames: ['call:completed', 'call:started'], example: { id: 'a1', error: 'ENOENT' } },
    }),
    await group('EPIPE', {
      ...{ count: 2, firstAt: new Date(100), lastAt: new Date(990) },
      // Of two that failed at the same time, the later one in the list.
      ...{ eventNames: ['call:completed', 'unknown'], example: { id: 'b2', error: 'EPIPE' } },
    }),
    await group('EBUSY', {
      ...{ count: 1, firstAt: new Date(700), lastAt: new Date(860) },
      ...{ eventNames: ['unknown'], example: { id: 'e1', error: 'EBUSY' } },
    }),
    await group('EOF', {
      ...{ count: 1, firstAt: new Date(850), lastAt: new Date(850) },
      ...{ eventNames: ['[redacted]'], example: { id: 'd1', error: 'EOF' } },
    }),
    await group('ECONNRESET', {
      ...{ count: 1, firstAt: new Date(800), lastAt: new Date(800) },
      ...{ eventNames: ['unknown'], example: { id: 'c1', error: 'ECONNRESET' } },
    }),
  ]);
  expect(causes.map(({ id }) => id)).toEqual(
    causes.map(() => expect.stringMatching(/^[\da-f]{12}$/)),
  );
});

it('only whole words of the ids of an event are left out, each of the three', () => {
  const of = { key: 'lead', webhookId: 'hook', callId: 'own' };
  expect(causeOf({ ...of, error: 'no lead for hook of own, mislead by hooks' })).toBe(
    'no … for … of …, mislead by hooks',
  );
  // Shorter ids occur in words by chance.
  expect(causeOf({ callId: 'it', error: 'it is gone' })).toBe('it is gone');
});
