/**
 * The result of a promise, if it comes in time.
 * @param ms milliseconds
 * @throws Error if it does not; and what the promise rejects with
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`The store did not answer within ${String(ms)} ms.`));
    }, ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
