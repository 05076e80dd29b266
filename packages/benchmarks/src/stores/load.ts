import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger, Queue, Store } from '@call-webhooks/core';
import { importPackage } from '../checkout.ts';
import { SECRET, signedMessages } from '../deliveries.ts';
import { cpuMicros, type Latency } from '../processes/messages.ts';
import { median } from '../report/statistics.ts';

/** What one delivery cost in one turn; microseconds. */
export interface Cost {
  readonly wall: number;
  /** Of this process, without the server. */
  readonly cpu: number;
}

/** A path of deliveries: through a receiver with a store, or bare statements. */
export interface Path {
  /** Prepares deliveries that are run by calling them. */
  prepare(number: number): (() => Promise<unknown>)[];
}

/** Deliveries through `receiver.receive`, with a store and a handler that does nothing, or to a queue. */
export async function receiverPath(
  root: string,
  ports: ({ readonly store: Store } | { readonly queue: Queue }) & { readonly logger?: Logger },
): Promise<Path> {
  const { createReceiver } = await importPackage<typeof import('@call-webhooks/core')>(
    root,
    'core',
  );
  const receiver = createReceiver({
    secret: SECRET,
    ...ports,
    storeTimeout: 10_000, // the machine may be busy
    on: { 'call:completed': () => undefined },
  });
  const expected = 'queue' in ports ? 202 : 200;
  return {
    prepare: (number) =>
      signedMessages('service', number).map((message) => async () => {
        const { status, body } = await receiver.receive({ method: 'POST', ...message });
        if (status !== expected)
          throw new Error(`The receiver responded ${String(status)} ${body}.`);
      }),
  };
}

export const floorPath = (floor: (id: string) => Promise<unknown>): Path => ({
  prepare: (number) => Array.from({ length: number }, () => () => floor(randomUUID())),
});

/** How many are prepared at a time. They allocate enough for several collections of garbage. */
const PREPARED = 4_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

/**
 * Moves what is prepared out of the young generation, as two collections do. Otherwise each collection
 * would copy it, at the cost of what is measured.
 */
function moveToOldSpace(): void {
  for (let round = 0; round < 2; round++) collect({ type: 'minor' });
}

/** Runs deliveries, so many at a time: each that ends is followed by the next. */
export async function costOf(path: Path, number: number, atATime: number): Promise<Cost> {
  const total = { wall: 0, cpu: 0 };
  for (let left = number; left > 0; left -= PREPARED) {
    const deliveries = path.prepare(Math.min(left, PREPARED));
    moveToOldSpace();
    await setImmediate();
    const [cpu, wall] = [cpuMicros(), performance.now()];
    let next = 0;
    const runAll = async () => {
      for (let run = deliveries[next++]; run; run = deliveries[next++]) await run();
    };
    await Promise.all(Array.from({ length: atATime }, runAll));
    total.wall += (performance.now() - wall) * 1_000;
    total.cpu += cpuMicros() - cpu;
  }
  return { wall: total.wall / number, cpu: total.cpu / number };
}

export async function latencyOf(path: Path, number: number): Promise<Latency> {
  const times: number[] = [];
  for (const run of path.prepare(number)) {
    await setImmediate(); // as a request that comes in with a turn of the event loop
    const from = performance.now();
    await run();
    times.push((performance.now() - from) * 1_000);
  }
  times.sort((a, b) => a - b);
  return { p50: median(times), p99: times[Math.floor(times.length * 0.99)] as number };
}
