import { setTimeout as delay } from 'node:timers/promises';

/** Tries until it works: a process may start while its server is away. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      await delay(100);
    }
  }
}
