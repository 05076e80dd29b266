// A full memory store in its own process: node --expose-gc store.js <ids> <checkout>
import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { importPackage } from '../checkout.ts';
import { cpuMicros, type Question, type Ready, type Reply } from './messages.ts';

const [, , ids, root] = process.argv as [string, string, string, string];
const size = Number(ids);
const { memoryStore } = await importPackage<typeof import('@call-webhooks/core')>(root, 'core');
const before = heapBytes();
const store = memoryStore({ maxEntries: size, onEvicted: () => undefined });
let count = 0;

async function deliver(): Promise<void> {
  const key = `66a1b2c3d4e5f6${(++count).toString(16).padStart(10, '0')}:call:completed`;
  const replayUntil = Date.now() + 600_000;
  // As for known events. With keys of the user, an id takes twice as much memory.
  const event = { webhookId: randomUUID(), key, isKeyOfBody: true };
  const claim = { ...event, token: `t-${count}`, leaseMs: 60_000, replayUntil };
  const { status } = await store.admit(claim);
  if (status !== 'admitted') throw new Error(`A new event is ${status}.`);
  await store.complete(key, claim.token);
}

/** What the loop costs without a store. */
async function deliverNowhere(): Promise<void> {
  await Promise.resolve(`${randomUUID()}${++count}`);
  await Promise.resolve();
}

function heapBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** How late the event loop is while deliveries come in small groups. */
async function delays(seconds: number, one: () => Promise<void>) {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    for (let i = 0; i < 10; i++) await one();
    await setImmediate();
  }
  histogram.disable();
  return { p99: histogram.percentile(99) / 1e6, max: histogram.max / 1e6 };
}

async function reply(question: Question): Promise<Reply> {
  const start = cpuMicros();
  if (question.ask === 'delays') {
    const busy = await delays(question.seconds, deliver);
    const idle = await delays(question.seconds, deliverNowhere);
    return { cpu: cpuMicros() - start, delays: { busy, idle } };
  }
  if (question.ask === 'admit') for (let i = 0; i < question.operations; i++) await deliver();
  return { cpu: cpuMicros() - start };
}

for (let i = 0; i < size; i++) await deliver();
const bytes = heapBytes() - before;
process.on('message', (question: Question) => {
  void reply(question).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
// Two ids are remembered for each delivery: the webhook id and the event.
process.send?.({ bytesPerId: bytes / (2 * size) } satisfies Ready);
