import { same, SERVICE_ERRORS, type Row } from './service-error-texts.ts';

/** The event whose handler fails in the table below. */
export const EVENT = {
  eventName: 'call:completed',
  callId: 'call_01HZX3K9',
  userId: 'user-42',
  createdAt: 1_775_037_600_000,
  toPhoneNumber: '+1 (555) 010-4477',
  recipientName: 'Ada King Lovelace',
  recipientEmail: 'ada.lovelace@example.com',
  endedAt: '2026-04-01T10:00:00.000Z',
};

const postgres: Row[] = [
  same('pg', 'connect ECONNREFUSED 10.0.0.5:5432'),
  same('pg', 'duplicate key value violates unique constraint "contacts_email_key"'),
  same('pg', 'null value in column "name" of relation "contacts" violates not-null constraint'),
  same('pg', 'canceling statement due to statement timeout'),
  same('pg', 'password authentication failed for user "app"'),
  same('pg', 'date/time field value out of range: "2026-13-45T10:00:00Z"'),
  [
    'pg, detail',
    'Key (email)=(ada.lovelace@example.com) already exists.',
    'Key (email)=([redacted]) already exists.',
  ],
  [
    'pg, detail',
    'Failing row contains (2c81daa7-1992-4560-a8ba-6fa1e9a4f6f8, ada.lovelace@example.com, null, 2026-04-01 10:00:00+00).',
    'Failing row contains (2c81daa7-1992-4560-a8ba-6fa1e9a4f6f8, [redacted], null, 2026-04-01 10:00:00+00).',
  ],
  [
    'pg',
    'invalid input syntax for type integer: "+1 (555) 010-4477"',
    'invalid input syntax for type integer: "[redacted]"',
  ],
  [
    'pg',
    'invalid input syntax for type uuid: "Ada King Lovelace"',
    'invalid input syntax for type uuid: "[redacted]"',
  ],
  same(
    'pg, detail',
    'Process 20883 waits for ShareLock on transaction 730; blocked by process 20884.',
  ),
];

const redis: Row[] = [
  same('ioredis', 'connect ECONNREFUSED ::1:6379'),
  same('ioredis', 'getaddrinfo ENOTFOUND cache.eu-central-1.internal.example'),
  same(
    'ioredis',
    'Reached the max retries per request limit (which is 20). Refer to "maxRetriesPerRequest" option for details.',
  ),
  same('Redis', "OOM command not allowed when used memory > 'maxmemory'."),
  same('Redis', 'WRONGPASS invalid username-password pair or user is disabled.'),
  same(
    'Redis',
    'ERR Unknown Redis command called from script script: 1becdf1ba87d1c5bbbe9c9131160e7202d920caf, on @user_script:1.',
  ),
  same('Redis Cluster', 'MOVED 3999 172.31.28.194:6381'),
  [
    'a client',
    'Redis connection to redis://default:hunt@r2@cache.internal:6379/0 failed',
    'Redis connection to redis://[redacted]@cache.internal:6379/0 failed',
  ],
];

const http: Row[] = [
  same('fetch', 'fetch failed'),
  same(
    'undici',
    'Connect Timeout Error (attempted address: crm.example.com:443, timeout: 10000ms)',
  ),
  same('undici', 'other side closed'),
  [
    'fetch',
    'Failed to parse URL from crm/contacts?email=ada.lovelace%40example.com&since=2026-04-01',
    'Failed to parse URL from crm/contacts?email=[redacted]&since=2026-04-01',
  ],
  [
    'fetch',
    'Request cannot be constructed from a URL that includes credentials: https://app:hunter2@crm.example.com/v1/calls',
    'Request cannot be constructed from a URL that includes credentials: https://[redacted]@crm.example.com/v1/calls',
  ],
  same('axios', 'Request failed with status code 422'),
  same('axios', 'timeout of 3000ms exceeded'),
  [
    'got',
    'Response code 404 (Not Found) for GET https://crm.example.com:8443/people/ada-lovelace?phone=%2B15550104477',
    'Response code 404 (Not Found) for GET https://crm.example.com:8443/people/[redacted]?phone=[redacted]',
  ],
  same(
    'TLS',
    '808CC5A42C7F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/openssl/ssl/record/ssl3_record.c:350:',
  ),
  same(
    'TLS',
    "Hostname/IP does not match certificate's altnames: IP: 10.0.0.5 is not in the cert's list: 10.0.0.4, 10.0.0.6",
  ),
];

const node: Row[] = [
  same('node:net', 'connect ETIMEDOUT 2001:db8:85a3::8a2e:370:7334:443'),
  same('node:net', 'listen EADDRINUSE: address already in use 0.0.0.0:3000'),
  same(
    'node:fs',
    "ENOENT: no such file or directory, open '/app/data/2026-04-01/call_01HZX3K9.json'",
  ),
  same('JSON.parse', `Unexpected token '<', "<!DOCTYPE html>" is not valid JSON`),
  same('JSON.parse', 'Expected double-quoted property name in JSON at position 1234567'),
  same('a bug', "Cannot read properties of undefined (reading 'name')"),
  same('a process', 'Worker 4211 exited with code 137 after 00:01:07.250 (1,073,741,824 bytes)'),
];

const orms: Row[] = [
  same(
    'Prisma',
    'Invalid `prisma.contact.create()` invocation in /app/src/crm.ts:41:28 → 41 await prisma.contact.create( Unique constraint failed on the fields: (`email`)',
  ),
  same(
    'Prisma',
    "Can't reach database server at `db.prod.example.com:5432` Please make sure your database server is running at `db.prod.example.com:5432`.",
  ),
  [
    'Prisma',
    'Argument `phone`: Invalid value provided. Expected Int, provided String "15550104477".',
    'Argument `phone`: Invalid value provided. Expected Int, provided String "[redacted]".',
  ],
  [
    'TypeORM',
    'Could not find any entity of type "Contact" matching: { "where": { "name": "Ada King Lovelace", "active": true } }',
    'Could not find any entity of type "Contact" matching: { "where": { "name": "[redacted]", "active": true } }',
  ],
  [
    'MySQL',
    "Duplicate entry 'ada.lovelace@example.com' for key 'contacts.email'",
    "Duplicate entry '[redacted]' for key 'contacts.email'",
  ],
  [
    'MySQL',
    "Access denied for user 'app'@'10.0.0.5' (using password: YES)",
    "Access denied for user 'app'@'10.0.0.5' (using password: [redacted]",
  ],
  same(
    'MongoDB',
    'E11000 duplicate key error collection: crm.calls index: callId_1 dup key: { callId: "call_01HZX3K9" }',
  ),
  [
    'zod',
    '[ { "code": "invalid_format", "path": [ "email" ], "message": "Invalid email address: ada.lovelace" } ]',
    '[ { "code": "invalid_format", "path": [ "email" ], "message": "Invalid email address: [redacted]" } ]',
  ],
];

/** Texts of errors as they are thrown in handlers, and as they are logged. */
export const ERROR_TEXTS: readonly Row[] = [
  ...postgres,
  ...redis,
  ...http,
  ...node,
  ...orms,
  ...SERVICE_ERRORS,
];
