import { cpuMicros } from '../processes/messages.ts';
import type { Cost } from '../stores/load.ts';
import { queuedDeliveries, type Backend, type Which } from './backend.ts';

/** A worker that has not run all jobs by then is stuck. */
const STUCK_MS = 120_000;

/** Prepares so many jobs, and measures how long a worker takes until all of them are done. */
export async function drain(backend: Backend, which: Which, number: number): Promise<Cost> {
  await Promise.all(
    queuedDeliveries(number).map((delivery) =>
      which === 'ours' ? backend.queue.enqueue(delivery) : backend.addBare(delivery),
    ),
  );
  const prepared = await backend.openJobs(which);
  if (prepared !== number)
    throw new Error(`${String(prepared)} of ${String(number)} jobs are open.`);
  const [cpu, wall] = [cpuMicros(), performance.now()];
  const worker = await allRun(number, (onRun) => backend.startWorker(which, onRun));
  while ((await backend.openJobs(which)) > 0); // the last handlers have run, and are being committed
  const cost = {
    wall: ((performance.now() - wall) * 1_000) / number,
    cpu: (cpuMicros() - cpu) / number,
  };
  await worker.close();
  await backend.clear();
  return cost;
}

/** Resolves with the worker once it has run so many jobs. */
function allRun<Worker extends { close(): unknown }>(
  number: number,
  start: (onRun: () => void) => Worker,
): Promise<Worker> {
  return new Promise((resolve, reject) => {
    let left = number;
    const timer = setTimeout(() => {
      worker.close();
      reject(new Error(`A worker left ${String(left)} of ${String(number)} jobs.`));
    }, STUCK_MS);
    const worker = start(() => {
      if (--left > 0) return;
      clearTimeout(timer);
      // Later, since a worker may run all jobs before it has been returned.
      setImmediate(() => resolve(worker));
    });
  });
}
