import { checkHeaders } from './check-headers.ts';
import { SeededRandom } from './seeded-random.ts';
import { serve } from './server.ts';
import { resolveSettings } from './settings.ts';
import { Simulation } from './simulation.ts';
import { createDeliveries, type Simulator } from './simulator.ts';
import { startSnapshotWriter } from './snapshot/snapshot-writer.ts';
import { firstSnapshot, lockSnapshot, readSnapshot } from './snapshot/snapshot-file.ts';
import { restoreSnapshot, takeSnapshot } from './snapshot/snapshot.ts';
import type { SimulatorOptions } from './options.ts';

/**
 * Starts the service on this machine: rules, calls, signed deliveries with retries and pauses, the
 * REST API, and the control API.
 * @throws SimulatorError `invalid-input` for a wrong option. With `db`: `bad-snapshot` for a file that
 *   cannot be read or written, and `db-in-use` when another simulator uses it.
 * @throws Error from `listen`, with code `EADDRINUSE` for example
 * @example
 * const simulator = await startSimulator({ clock: 'manual', seed: 1 });
 * simulator.rules.forwardTo('http://127.0.0.1:3000/hook');
 * simulator.calls.place({ durationSeconds: 20 });
 * await simulator.clock.runUntilIdle();
 * await simulator.close();
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const release = options.db === undefined ? undefined : await lockSnapshot(options.db);
  try {
    return await start(options, release);
  } catch (error) {
    await release?.();
    throw error;
  }
}

async function start(options: SimulatorOptions, release?: () => Promise<void>): Promise<Simulator> {
  const saved = options.db === undefined ? undefined : await readSnapshot(options.db);
  const settings = resolveSettings({ ...options, seed: options.seed ?? saved?.heading.seed });
  await checkHeaders(settings);
  const { db, seed } = settings;
  const simulation = new Simulation(settings);
  if (db !== undefined && saved) restoreSnapshot(simulation, saved, db);
  if (db !== undefined) await firstSnapshot(db, takeSnapshot(simulation));
  // A reset keeps the token, so that clients can go on.
  const apiToken = settings.apiToken ?? new SeededRandom(seed).id('api-token');

  const closing = once(async () => {
    simulation.close();
    try {
      await server.close();
      await writer?.close();
    } finally {
      await release?.();
    }
  });
  const server = await serve(simulation, { apiToken, close: closing.run });
  simulation.baseUrl = server.url;
  const { changes } = simulation;
  const writer =
    db === undefined ? undefined : startSnapshotWriter(db, changes, () => takeSnapshot(simulation));
  simulation.resume();

  const { rules, calls, messages, outbox, clock, chaos, secrets } = simulation;
  return {
    url: server.url,
    apiToken,
    seed,
    rules,
    calls,
    messages,
    deliveries: createDeliveries(simulation),
    outbox,
    clock,
    chaos,
    secrets,
    reset() {
      simulation.reset();
    },
    close: closing.run,
    closed: closing.done,
  };
}

/** @returns `run`, which runs the task once, and `done`, which settles with it */
function once(task: () => Promise<void>): { run: () => Promise<void>; done: Promise<void> } {
  let settle: (running: Promise<void>) => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    settle = resolve;
  });
  // `run` reports an error to its caller; nobody may listen to `done`.
  done.catch(() => undefined);
  let running: Promise<void> | undefined;
  return {
    run() {
      if (!running) settle((running = task()));
      return running;
    },
    done,
  };
}
