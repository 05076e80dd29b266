import { checkHeaders } from './check-headers.ts';
import { SeededRandom } from './seeded-random.ts';
import { serve } from './server.ts';
import { resolveSettings } from './settings.ts';
import { Simulation } from './simulation.ts';
import { createDeliveries, type Simulator } from './simulator.ts';
import { lockSnapshot } from './snapshot/file-in-use.ts';
import { keepSnapshot } from './snapshot/keeper.ts';
import { firstSnapshot, readSnapshot } from './snapshot/snapshot-file.ts';
import { restoreSnapshot, takeSnapshot } from './snapshot/snapshot.ts';
import type { SimulatorOptions } from './options.ts';

/**
 * Starts the service on this machine: rules, calls, signed deliveries with retries and pauses, the
 * REST endpoints, and the inspector.
 * @throws SimulatorError `invalid-input` for a wrong option; with `db`, `bad-snapshot` for a file
 *   that can't be taken up or written, and `db-in-use` for that of another simulator; what `listen`
 *   throws
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const letGo = options.db === undefined ? undefined : await lockSnapshot(options.db);
  try {
    return await start(options, letGo);
  } catch (error) {
    await letGo?.();
    throw error;
  }
}

async function start(options: SimulatorOptions, letGo?: () => Promise<void>): Promise<Simulator> {
  const saved = options.db === undefined ? undefined : await readSnapshot(options.db);
  const settings = resolveSettings({ ...options, seed: options.seed ?? saved?.heading.seed });
  await checkHeaders(settings);
  const { db, seed } = settings;
  const simulation = new Simulation(settings);
  if (db !== undefined && saved) restoreSnapshot(simulation, saved, db);
  // Whoever wants the state kept is told now that it can't be, not at the end.
  if (db !== undefined) await firstSnapshot(db, takeSnapshot(simulation));
  // The same after a reset: a client goes on with the token that it has.
  const apiToken = settings.apiToken ?? new SeededRandom(seed).id('api-token');

  const closing = once(async () => {
    simulation.close();
    try {
      await server.close();
      await keeper?.close();
    } finally {
      await letGo?.();
    }
  });
  const server = await serve(simulation, { apiToken, close: closing.run });
  simulation.baseUrl = server.url;
  const { changes } = simulation;
  const keeper =
    db === undefined ? undefined : keepSnapshot(db, changes, () => takeSnapshot(simulation));
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

/** @returns `run`, which runs `task` the first time that it is called, and `done`, which settles as that does */
function once(task: () => Promise<void>): { run: () => Promise<void>; done: Promise<void> } {
  let settle: (running: Promise<void>) => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    settle = resolve;
  });
  // Whoever calls `run` hears of an error; `done` may be of interest to nobody.
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
