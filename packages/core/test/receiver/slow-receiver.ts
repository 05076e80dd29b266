import type { HandlerContext } from '../../src/index.ts';
import { createTestReceiver, deferred } from '../support.ts';

/** A receiver whose handler ends when `work` is settled. */
export function slow(options: object = {}) {
  const work = deferred();
  const signals: AbortSignal[] = [];
  const made = createTestReceiver({
    now: undefined,
    on: {
      'call:started': (_event: unknown, { signal }: HandlerContext) => {
        signals.push(signal);
        return work.promise;
      },
    },
    ...options,
  });
  return { ...made, work, signals };
}
