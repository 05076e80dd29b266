import { FASTER } from './reasons.ts';

/** The changes of the Redis package that do no harm, as `EQUIVALENT` has them. */
export const IN_REDIS = {
  'packages/redis/src/ask-once.ts': {
    '\'answered\' → ""': 'any state but open is as good',
  },
  'packages/redis/src/bullmq-job.ts': {
    'false → true': 'the first call that is answered sets it, and none fails for good without',
  },
  'packages/redis/src/bullmq-lock.ts': {
    '() => false → () => undefined': 'not lost either',
    '{ once: true } → {}': 'the listener removes itself',
    'true → false': 'the listener removes itself',
  },
  'packages/redis/src/bullmq-worker.ts': {
    'earlier.length > 0 → true': 'no earlier run is waited for at once',
    'earlier.length > 0 → earlier.length >= 0': 'no earlier run is waited for at once',
    'running.size > 0 → true': 'no running job is waited for at once',
    'running.size > 0 → running.size >= 0': 'no running job is waited for at once',
    '{ once: true } → {}': 'a signal is aborted once',
    'true → false': 'a signal is aborted once',
  },
  'packages/redis/src/redis-dead-letters.ts': {
    '\'\' → "Stryker was here!"': 'the script always gives both',
    'ids.length === 0 → false': FASTER,
  },
};
