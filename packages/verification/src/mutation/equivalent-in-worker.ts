/** The changes of core's workers that do no harm, as `EQUIVALENT` has them. */
export const IN_WORKER = {
  'packages/core/src/worker/job-line.ts': {
    '\'\' → "Stryker was here!"': 'a run that failed has an error',
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
};
