/** The longest delay of a timer; milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** How long a store or engine may take, at shutdown, to accept what is released; milliseconds. */
export const RELEASE_MS = 1_000;

/** Waits for a promise for `ms` milliseconds at most. A promise that rejects has ended as well. */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  await Promise.race([promise.then(ignore, ignore), limit]);
  clearTimeout(timer);
}

const ignore = () => undefined;
