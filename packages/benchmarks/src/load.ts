import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Store } from '@call-webhooks/core';
import { importPackage } from './checkout.ts';
import { cpuMicros } from './contender-process.ts';
import { SECRET, signedMessages } from './deliveries.ts';
import type { Figures } from './rounds.ts';

/** Prepares deliveries that are run by calling them. */
export type Prepare = (number: number) => (() => Promise<unknown>)[];

/** Deliveries through `receiver.receive` to a handler that does nothing. */
export async function throughReceiver(root: string, store: Store): Promise<Prepare> {
  const { createReceiver } = await importPackage(root, 'core');
  const ignore = () => undefined;
  const receiver = createReceiver({
    secret: SECRET,
    store,
    storeTimeout: 10_000, // the machine may be busy
    on: { 'call:completed': ignore },
    logger: { warn: ignore, error: ignore },
  });
  return (number) =>
    signedMessages('service', number).map((message) => async () => {
      const { status, body } = await receiver.receive({ method: 'POST', ...message });
      if (status !== 200) throw new Error(`The receiver responded ${String(status)} ${body}.`);
    });
}

/** How many are prepared at a time. They allocate enough for several collections of garbage. */
const PREPARED = 4_000;

setFlagsFromString('--expose-gc');
export const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** What one delivery takes when so many are run at a time: each that ends is followed by the next. */
export async function costOf(prepare: Prepare, number: number, atATime: number): Promise<Figures> {
  const total = { time: 0, cpu: 0 };
  for (let left = number; left > 0; left -= PREPARED) {
    const deliveries = prepare(Math.min(left, PREPARED));
    // Two collections move what is prepared out of the young generation. Otherwise each collection would
    // copy it, at the cost of what is measured.
    for (let round = 0; round < 2; round++) collectGarbage({ type: 'minor' });
    await setImmediate();
    const [cpu, time] = [cpuMicros(), performance.now()];
    await runAll(deliveries, atATime);
    total.time += (performance.now() - time) * 1_000;
    total.cpu += cpuMicros() - cpu;
  }
  return { 'time µs': total.time / number, 'CPU µs': total.cpu / number };
}

export async function runAll(
  deliveries: readonly (() => Promise<unknown>)[],
  atATime: number,
): Promise<void> {
  let next = 0;
  const one = async () => {
    for (let run = deliveries[next++]; run; run = deliveries[next++]) await run();
  };
  await Promise.all(Array.from({ length: atATime }, one));
}

/** What a delivery takes when it is alone. */
export async function latencyOf(prepare: Prepare, number: number): Promise<Figures> {
  const times: number[] = [];
  for (const run of prepare(number)) {
    await setImmediate(); // as a request that comes in with a turn of the event loop
    const from = performance.now();
    await run();
    times.push((performance.now() - from) * 1_000);
  }
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(times.length * part)] ?? NaN;
  return { 'alone, p50 µs': at(0.5), 'alone, p99 µs': at(0.99) };
}
