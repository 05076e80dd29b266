// The memory store at one size, in a process of its own: node --expose-gc store-process.js <ids>
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { memoryStore } from '@call-webhooks/core';
import { cpuMicros, type Ready, type StoreQuestion, type StoreReply } from './protocol.ts';

const size = Number(process.argv[2]);
const before = heapBytes();
const store = memoryStore({ maxEntries: size, onEvicted: () => undefined });
let count = 0;

async function deliver(): Promise<void> {
  const key = `66a1b2c3d4e5f6${(++count).toString(16).padStart(10, '0')}:call:completed`;
  const replayUntil = Date.now() + 600_000;
  const claim = { webhookId: randomUUID(), key, token: `t-${count}`, leaseMs: 60_000, replayUntil };
  const { status } = await store.admit(claim);
  if (status !== 'admitted') throw new Error(`A new event is ${status}.`);
  await store.complete(key, claim.token);
}

/** As `deliver`, with nothing remembered: what the loop costs by itself. */
async function deliverNowhere(): Promise<void> {
  await Promise.resolve(`${randomUUID()}${++count}`);
  await Promise.resolve();
}

function heapBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** How late the loop gets round, in ms, while deliveries come in small groups. */
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

async function answer(question: StoreQuestion): Promise<StoreReply> {
  if (question.ask === 'delays') {
    const busy = await delays(question.seconds, deliver);
    return { busy, idle: await delays(question.seconds, deliverNowhere) };
  }
  const start = cpuMicros();
  for (let i = 0; i < question.operations; i++) await deliver();
  return { cpu: cpuMicros() - start };
}

for (let i = 0; i < size; i++) await deliver();
const bytes = heapBytes() - before;
process.on('message', (question: StoreQuestion) => {
  void answer(question).then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit());
// Two ids are remembered of a delivery: the webhook's and the event's.
process.send?.({ bytesPerId: bytes / (2 * size) } satisfies Ready);
