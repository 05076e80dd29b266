import { IN_ADAPTERS } from './equivalent-in-adapters.ts';
import { IN_PERSONAL_VALUES } from './equivalent-in-personal-values.ts';
import { IN_REDACT } from './equivalent-in-redact.ts';
import { IN_REPORTING } from './equivalent-in-reporting.ts';
import { IN_SQLITE } from './equivalent-in-sqlite.ts';
import { IN_WORKER } from './equivalent-in-worker.ts';

/** Why a change is no defect, by its file and the code before and after it. */
type Reasons = Readonly<Record<string, Readonly<Record<string, string>>>>;

const FASTER = 'only faster';
const AT_IMPORT =
  'it runs at import, and Stryker tries only the test that imports it again: the others notice it';
const IN_EDGE_TEST = 'edge.test.ts notices it, which Stryker does not run';
const MADE_BEFORE =
  'the contract tests make the store before the first test, and Stryker does not count that';

const MADE_ONCE =
  'schemas are made once, and Stryker tries only the test that makes them: the others notice it';

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
  'packages/core/src/receiver/claim.ts': {
    '\'group-busy\' → ""': 'the list of the answers does not have it either',
  },
  'packages/core/src/receiver/concurrency-limiter.ts': {
    'this.#oldestAt > before → false': FASTER,
    'tenant !== undefined → true': FASTER,
    'this.#running.size < this.#max → false': FASTER,
    '!isFull() → false': FASTER,
    'tenant === undefined → false': 'nothing is remembered of a delivery without a tenant',
  },
  'packages/core/src/receiver/deliver.ts': {
    'channel?.hasSubscribers !== true → false': FASTER,
    'true → false': FASTER,
    '{ once: true } → {}': 'the listener is removed at the end',
  },
  'packages/core/src/receiver/group-turns.ts': { 'group === undefined → false': FASTER },
  'packages/core/src/receiver/keep-alive.ts': {
    'onError → true': 'a hook that fails, as one that is not there does, changes nothing',
  },
  'packages/core/src/receiver/process-delivery.ts': {
    "job.kind === 'handler' → true": 'only handlers can call completeIn',
    'this.#lease?.release → this.#lease.release': 'close() ignores what abandon() rejects with',
    'store.reopen?.(key) → store.reopen(key)': 'deliver() refuses a store without it',
    'isPending(running) → true': FASTER,
    'this.#deps.turns?.freed → this.#deps.turns.freed': 'only turns make a group',
    'this.#abortReason → true': 'to abort without a reason does nothing',
  },
  'packages/core/src/receiver/receive.ts': {
    'channel?.hasSubscribers !== true → false': FASTER,
    'tenant === undefined → false': 'a tenant that is undefined is none',
    'channel?.hasSubscribers → channel.hasSubscribers': IN_EDGE_TEST,
    'true → false': FASTER,
  },
  'packages/core/src/receiver/trusted-delivery.ts': {
    'of !== undefined → true': 'a tenant that is undefined is none',
    'id !== undefined → true': 'an id that is undefined is none',
  },
  'packages/core/src/signature/authenticate.ts': {
    'key === undefined || key instanceof Promise → true': FASTER,
    'age > 0 → age >= 0': 'an age of 0 is never refused',
  },
  'packages/core/src/signature/secret-provider.ts': {
    '-Infinity → +Infinity': 'it is set before it is read',
  },
  'packages/core/src/signature/secrets.ts': {
    'last?.secret !== secret → true': FASTER,
    'lastFixed?.keys !== keys → true': FASTER,
    '() => Promise.resolve(undefined) → () => undefined': 'it is awaited',
  },
  'packages/core/src/signature/tenant-keys.ts': {
    'entry?.owed → entry.owed': 'the keys of a delivery that verified are known',
    '\'nobody\' → ""': 'it is never shown',
    'loading → false': '#load joins a call that runs, too',
    '-Infinity → +Infinity': 'it is read of known tenants alone',
    '!known → true': 'a known tenant is looked up first',
  },
  'packages/core/src/store/bounded-store.ts': {
    '() => false → () => undefined': 'it is only asked whether it is true',
    'false → true': 'only a store that has the method is asked',
    'store.reopen?.(key) → store.reopen(key)': 'only a store that has the method is asked',
    'store.completeIn?.(tx, key, token) → store.completeIn(tx, key, token)':
      'only a store that has the method is asked',
    'channel?.hasSubscribers → channel.hasSubscribers': IN_EDGE_TEST,
    'true → false': FASTER,
  },
  'packages/core/src/store/dead-letter-query.ts': {
    '\'\' → "Stryker was here!"': 'it is not used without a cursor',
    '[] → ["Stryker was here"]': 'it is not used without a cursor',
  },
  'packages/core/src/store/id-cache.ts': { 'length === 1 → false': FASTER },
  'packages/core/src/store/hash53.ts': {
    'i < text.length → i <= text.length': 'another hash, and as good',
    '(mixedHigh >>> 11) * 2 ** 32 + (mix(low, mixedHigh) >>> 0) → (mixedHigh >>> 11) * 2 ** 32 - (mix(low, mixedHigh) >>> 0)':
      'another hash, and as good',
  },
  'packages/core/src/store/lease.ts': {
    '++tokenCount → --tokenCount': 'another token, and as good',
  },
  'packages/core/src/store/memory-dead-letters.ts': {
    'matching(query).slice(0, limit + 1) → matching(query)': FASTER,
    'one.id < other.id → one.id <= other.id': 'no two letters have the same id',
    '(id, { token, leaseMs }) => promiseOf(() => { const entry = kept.get(id); const… → () => undefined':
      MADE_BEFORE,
    '(id, token, leaseMs) => promiseOf(() => { const entry = held(id, token); if (en… → () => undefined':
      MADE_BEFORE,
    '(id, token) => promiseOf(() => held(id, token) !== undefined && kept.delete(id)) → () => undefined':
      MADE_BEFORE,
    '(id, token, failure) => promiseOf(() => { const entry = held(id, token); if (!e… → () => undefined':
      MADE_BEFORE,
  },
  'packages/core/src/store/memory-store.ts': {
    'running !== undefined → true': 'no lease is of the key undefined',
    'lease.until > monotonicTime → lease.until >= monotonicTime': 'liveLease checks the end again',
    '(name) => Promise.resolve(cursors.get(name)) → () => undefined': MADE_BEFORE,
    '(name, cursor) => Promise.resolve(void cursors.set(name, cursor)) → () => undefined':
      MADE_BEFORE,
    '() => Promise.resolve() → () => undefined': MADE_BEFORE,
  },
  'packages/core/src/store/turn-batch.ts': { 'size === 1 → true': FASTER },
  'packages/core/src/time/deadline-scheduler.ts': {
    'deadline.at < this.#armedFor → deadline.at <= this.#armedFor': FASTER,
  },
  ...IN_PERSONAL_VALUES,
  ...IN_REDACT,
  ...IN_REPORTING,
  ...IN_WORKER,
  ...IN_ADAPTERS,
  ...IN_SQLITE,
  'packages/core/src/receiver/settings.ts': {
    '"expected a number of bytes, or a text such as \'1mb\'" → ""': MADE_ONCE,
    '[aFunction(), v.array(aFunction())] → []': MADE_ONCE,
    '\'expected a function or a list of functions\' → ""': MADE_ONCE,
    "[v.picklist(['standard', 'strict', 'off']), aFunction()] → []": MADE_ONCE,
    "['standard', 'strict', 'off'] → []": MADE_ONCE,
    '\'standard\' → ""': MADE_ONCE,
    '\'strict\' → ""': MADE_ONCE,
    '\'off\' → ""': MADE_ONCE,
    '\'expected true or a function\' → ""': MADE_ONCE,
    '[ v.string(), v.strictObject({ id: v.string(), timestamp: v.string(), signature… → []':
      MADE_ONCE,
    '{ id: v.string(), timestamp: v.string(), signature: v.string() } → {}': MADE_ONCE,
    '"expected a prefix such as \'X-Service\', or { id, timestamp, signature }" → ""': MADE_ONCE,
  },
};
