import { IN_ADAPTERS } from './equivalent-in-adapters.ts';
import { IN_PERSONAL_VALUES } from './equivalent-in-personal-values.ts';
import { IN_POSTGRES } from './equivalent-in-postgres.ts';
import { IN_RECEIVER } from './equivalent-in-receiver.ts';
import { IN_REDACT } from './equivalent-in-redact.ts';
import { IN_REDIS } from './equivalent-in-redis.ts';
import { IN_REPORTING } from './equivalent-in-reporting.ts';
import { IN_SQLITE } from './equivalent-in-sqlite.ts';
import { IN_STORE } from './equivalent-in-store.ts';
import { IN_WORKER } from './equivalent-in-worker.ts';
import { AT_IMPORT, FASTER, IN_EDGE_TEST, type Reasons } from './reasons.ts';

/** Changes of the sources that do no harm, so that no test can notice them. */
export const EQUIVALENT: Reasons = {
  'packages/core/src/dispatch/after-transaction.ts': {
    '!onError → false': 'a hook that fails, as one that is not there does, changes nothing',
  },
  'packages/core/src/dispatch/job.ts': {
    "error.code === 'invalid-payload' → true": 'nothing there throws another code',
    '\'enqueue\' → ""': 'a job of no handler needs no more than another kind',
    '\'dead-letter\' → ""': 'a job of no handler needs no more than another kind',
    'channel?.hasSubscribers !== true → false': FASTER,
    'channel?.hasSubscribers → channel.hasSubscribers': IN_EDGE_TEST,
    'true → false': FASTER,
  },
  'packages/core/src/dispatch/routes.ts': { 'tenant === undefined → false': FASTER },
  'packages/core/src/dispatch/run-handler.ts': {
    'channel?.hasSubscribers !== true → false': FASTER,
    'channel?.hasSubscribers → channel.hasSubscribers': IN_EDGE_TEST,
    'true → false': FASTER,
  },
  'packages/core/src/dispatch/to-dead-letter.ts': {
    'route?.sensitiveData → route.sensitiveData': 'without a route, the error is a WebhookError',
  },
  'packages/core/src/events/payload.ts': {
    '\'{\' → ""': FASTER,
    '\'[\' → ""': FASTER,
    'at + 1 → at - 1': FASTER,
    '-1 → +1': FASTER,
    'left-- === 0 → true': FASTER,
    'left-- === 0 → left-- !== 0': FASTER,
    'false → true': FASTER,
    "typeof value !== 'object' → false": FASTER,
    "typeof inner === 'object' → true": FASTER,
  },
  'packages/core/src/events/schema-issues.ts': {
    "typeof segment === 'string' → true": 'no declared name is a symbol',
  },
  'packages/core/src/hmac/node-crypto.ts': {
    'length > inner.length → length >= inner.length': FASTER,
    'key !== padded → true': FASTER,
    'a.length !== SIGNATURE_LENGTH → true': FASTER,
    '\'latin1\' → ""': 'the texts are ASCII',
    '2 * SIGNATURE_LENGTH → 2 / SIGNATURE_LENGTH': AT_IMPORT,
    '[] → ["Stryker was here"]': 'no message is as short as the view that is there',
    'true → false': FASTER,
  },
  'packages/core/src/hmac/web-crypto.ts': {
    'i < a.length → i <= a.length': 'beyond the end, both texts are NaN',
  },
  'packages/core/src/http/body.ts': { 'chunks.length === 1 → false': FASTER },
  'packages/core/src/http/node-body.ts': {
    '{ return undefined; } → {}': 'a function without a return gives undefined as well',
  },
  'packages/core/src/http/request.ts': {
    'value !== undefined → false': FASTER,
    'key.length === name.length → true': FASTER,
  },
  'packages/core/src/signature/authenticate.ts': {
    'key === undefined || key instanceof Promise → true': FASTER,
    'age > 0 → age >= 0': 'an age of 0 is never refused',
  },
  'packages/core/src/signature/secret-provider.ts': {
    '-Infinity → +Infinity': 'it is set before it is read',
  },
  'packages/core/src/signature/secrets.ts': {
    '\'string\' → ""': FASTER,
    'last?.secret !== secret → true': FASTER,
    'keyCache.size >= MAX_CACHED → keyCache.size > MAX_CACHED': 'one more is as good',
    '/=+$/ → /=$/': 'two at the end say the same of the length as one',
    '/=+$/ → /=+/': 'they are at the end alone',
    'lastFixed?.keys !== keys → true': FASTER,
    '() => Promise.resolve(undefined) → () => undefined': 'it is awaited',
  },
  'packages/core/src/signature/tenant-keys.ts': {
    'entry?.owed → entry.owed': 'the keys of a delivery that verified are known',
    '\'nobody\' → ""': 'it is never shown',
    'loading → false': '#load joins a call that runs, too',
    '-Infinity → +Infinity': 'it is read of known tenants alone',
    '!known → true': 'a known tenant is looked up first',
    '() => Promise.resolve(undefined) → () => undefined': 'it is awaited',
    'false → true': 'refresh() sets it before it is read',
  },
  ...IN_ADAPTERS,
  ...IN_PERSONAL_VALUES,
  ...IN_POSTGRES,
  ...IN_RECEIVER,
  ...IN_REDACT,
  ...IN_REDIS,
  ...IN_REPORTING,
  ...IN_SQLITE,
  ...IN_STORE,
  ...IN_WORKER,
};
