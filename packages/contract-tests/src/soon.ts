import timers from 'node:timers';
import { afterAll } from '@jest/globals';

// Taken at the import: the fake timers of a test replace them.
const { setTimeout: startTimer, clearTimeout: stopTimer } = timers;
/** Long enough for a busy machine; milliseconds. */
const WITHIN_MS = 20_000;

/** Of what is still waited for: nobody may await what a test started. */
const waiting = new Set<NodeJS.Timeout>();
afterAll(() => {
  for (const timer of waiting) stopTimer(timer);
});

/**
 * Waits for something that happens at once if all is well. If it doesn't, the test says so, long before Jest
 * ends it without a reason. The time is real time, also under fake timers.
 * @param what has not happened if it takes too long, as a sentence
 */
export function soon<T>(promise: PromiseLike<T>, what: string): Promise<T> {
  const result = new Promise<T>((resolve, reject) => {
    const timer = startTimer(
      () => reject(new Error(`${what} (${String(WITHIN_MS)} ms)`)),
      WITHIN_MS,
    );
    timer.unref();
    waiting.add(timer);
    const stop = () => {
      waiting.delete(timer);
      stopTimer(timer);
    };
    promise.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
  result.catch(() => undefined); // whoever awaits it gets the error nevertheless
  return result;
}
