// Iterates over all events, and measures the heap after each thousand. Needs --expose-gc.
import { createClient, type ActivityEvent } from '@call-webhooks/client';

const input = JSON.parse(process.argv[2] ?? '{}') as {
  baseUrl: string;
  apiToken: string;
  limit: number;
  /** Keeps every event: what a client that collects would cost. */
  hoard: boolean;
};
const collectGarbage = (globalThis as { gc?: () => void }).gc;
if (collectGarbage === undefined) throw new Error('start it with --expose-gc');

const kept: ActivityEvent[] = [];
const heap: number[] = [];
let count = 0;
const { baseUrl, apiToken, limit } = input;
for await (const event of createClient({ baseUrl, apiToken }).events.iterate({ limit })) {
  if (input.hoard) kept.push(event);
  if (++count % 1000 !== 0) continue;
  // A turn of the event loop, so that what is done with can be let go of.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  heap.push(process.memoryUsage().heapUsed);
}
process.send?.({ count, heap, kept: kept.length });
