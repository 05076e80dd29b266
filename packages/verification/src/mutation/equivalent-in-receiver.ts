import { FASTER, IN_EDGE_TEST, MADE_ONCE } from './reasons.ts';

/** The changes of core's receiver that do no harm, as `EQUIVALENT` has them. */
export const IN_RECEIVER = {
  'packages/core/src/receiver/claim.ts': {
    "route.isKeyOfBody && typeof oneAtATime !== 'function' → false": FASTER,
    'true → false': FASTER,
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
