// Iterates over all events and measures the heap after each thousand: first without keeping them, then
// keeping every event, which shows that the measurement would notice. Needs --expose-gc.
import { createClient, type ActivityEvent } from '@call-webhooks/client';

const input = JSON.parse(process.argv[2] ?? '{}') as {
  baseUrl: string;
  apiToken: string;
  limit: number;
};
const { baseUrl, apiToken, limit } = input;
const client = createClient({ baseUrl, apiToken });
const collectGarbage = (globalThis as { gc?: () => void }).gc;
if (collectGarbage === undefined) throw new Error('start it with --expose-gc');

/** Counts the events, and how much the heap grew after the first thousand; bytes. */
async function measure(kept?: ActivityEvent[]): Promise<{ count: number; growth: number }> {
  const heap: number[] = [];
  let count = 0;
  for await (const event of client.events.iterate({ limit })) {
    kept?.push(event);
    if (++count % 1000 !== 0) continue;
    // One turn of the event loop, so that finished events can be collected.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage?.();
    heap.push(process.memoryUsage().heapUsed);
  }
  return { count, growth: Math.max(...heap) - (heap[0] ?? 0) };
}

const lean = await measure();
const kept: ActivityEvent[] = [];
const hoarder = await measure(kept);
process.send?.({ lean, hoarder, kept: kept.length });
