import type { Meter, ObservableCallback, ObservableGauge } from '@opentelemetry/api';
import { diag } from '@opentelemetry/api';
import { QUEUE, STATE } from './attributes.ts';

/** How many jobs a queue has: a number, or an object with one for each state. */
export type QueueDepth = () => number | object | Promise<number | object>;

/** How long an engine may take; milliseconds. A scrape waits for it. */
const TIMEOUT_MS = 1_000;

/** Reports what the engines tell, each time that metrics are collected. @returns stops that */
export function observeQueues(
  meter: Meter,
  queues: Record<string, QueueDepth>,
  deadLetters: (() => number | Promise<number>) | undefined,
): () => void {
  const undo: (() => void)[] = [];
  const observe = (gauge: ObservableGauge, callback: ObservableCallback) => {
    gauge.addCallback(callback);
    undo.push(() => {
      gauge.removeCallback(callback);
    });
  };

  const depth = meter.createObservableGauge('call_webhooks.queue.depth', {
    description: 'Jobs of a queue by their state',
    unit: '{job}',
  });
  for (const [queue, ask] of Object.entries(queues))
    observe(depth, async (gauge) => {
      const counts = await answerOf(`the queue ${queue}`, ask);
      const states = typeof counts === 'number' ? { waiting: counts } : (counts ?? {});
      for (const [state, count] of Object.entries(states) as [string, unknown][])
        if (typeof count === 'number') gauge.observe(count, { [QUEUE]: queue, [STATE]: state });
    });

  if (deadLetters) {
    const kept = meter.createObservableGauge('call_webhooks.dead_letters.kept', {
      description: 'Dead letters that wait to be redriven or removed',
      unit: '{event}',
    });
    observe(kept, async (gauge) => {
      const count = await answerOf('the dead letters', deadLetters);
      if (count !== undefined) gauge.observe(count);
    });
  }
  return () => {
    for (const stop of undo) stop();
  };
}

/** An engine that fails or hangs must not fail the whole collection. */
async function answerOf<T>(what: string, ask: () => T | Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${String(TIMEOUT_MS)} ms`));
    }, TIMEOUT_MS);
  });
  try {
    return await Promise.race([ask(), timeout]);
  } catch (error) {
    diag.warn(`@call-webhooks/opentelemetry: ${what} cannot be counted:`, error);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
