import { FASTER } from './reasons.ts';

/** The changes of core's workers that do no harm, as `EQUIVALENT` has them. */
export const IN_WORKER = {
  'packages/core/src/worker/attempt-job.ts': {
    'channel?.hasSubscribers !== true → false': FASTER,
    'channel?.hasSubscribers → channel.hasSubscribers':
      'edge.test.ts notices it, which Stryker does not run',
    'key !== undefined → true': 'a key that is undefined is none',
    'route?.sensitiveData → route.sensitiveData': 'without a route, the error is a WebhookError',
    'tenant !== undefined → true': 'a tenant that is undefined is none',
    '{ once: true } → {}': 'the listener is removed at the end',
    'true → false': 'the listener is removed at the end',
  },
  'packages/core/src/worker/job-line.ts': {
    '\'\' → "Stryker was here!"': 'a run that failed has an error',
  },
  'packages/core/src/worker/job-transaction.ts': {
    '\'UnsettledRun\' → ""': 'an error without a name is shown by its class',
  },
  'packages/core/src/worker/leased-job.ts': {
    '\'running\' → ""': 'it is only asked whether it is one of the others',
    '{ once: true } → {}': 'the listener is removed at the end',
    'true → false': 'the listener is removed at the end',
    'this.#job.extend?.() → this.#job.extend()': 'what it throws is ignored',
  },
  'packages/core/src/worker/polling-worker.ts': {
    '{ onError(error); } → {}': 'jobs are released by a closing worker, which reports nothing',
    'false → true': 'the worker polls at once when it starts',
    'jobs.length === limit → false': 'a full worker polls when a job ends',
    'true → false': 'a full worker polls when a job ends',
  },
  'packages/core/src/worker/running-jobs.ts': {
    'this.#running.get(id)?.done → this.#running.get(id).done': 'allSettled ignores what rejects',
  },
  'packages/core/src/worker/write-result.ts': {
    '\'\' → "Stryker was here!"': 'it is set before it is read',
    'performance.now() - startedAt >= LOG_AFTER_MS → performance.now() - startedAt > LOG_AFTER_MS':
      'a millisecond later is as good',
    '{ once: true } → {}': 'the listener is removed at the end',
    'true → false': 'the listener is removed at the end',
  },
};
