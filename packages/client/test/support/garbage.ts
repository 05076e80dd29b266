import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Fetch } from '../../src/options.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * A `fetch` through a `Request` of its own, as wrappers make it. Node's fetch follows the signal of
 * such a Request weakly: when it has been collected, an abort no longer reaches the body.
 */
export interface ForgetfulFetch {
  readonly fetch: Fetch;
  /** Waits for the headers of so many answers, then collects garbage until no Request is left. */
  forget(answers: number): Promise<void>;
}

export function forgetfulFetch(): ForgetfulFetch {
  const requests: WeakRef<Request>[] = [];
  let answered = 0;
  return {
    async fetch(url, init) {
      const request = new Request(url, init);
      requests.push(new WeakRef(request));
      const response = await fetch(request);
      answered++;
      return response;
    },
    async forget(answers) {
      while (answered < answers) await setImmediate();
      for (let round = 0; round < 50; round++) {
        await setImmediate();
        collect();
        if (requests.every((request) => request.deref() === undefined)) return;
      }
      throw new Error('a Request has not been collected');
    },
  };
}
