import type { Simulation } from '../simulation.ts';
import { badSnapshot } from './snapshot-file.ts';
import type { Snapshot } from './snapshot-lines.ts';

/** What is to be written. */
export function takeSnapshot(simulation: Simulation): Snapshot {
  return { ...simulation.dump(), takenAt: Date.now() };
}

/**
 * Puts a simulation where the snapshot was. A clock that flows went on meanwhile; one that is
 * turned by hand stands where it stood.
 * @throws SimulatorError `bad-snapshot`, with what is to be done
 */
export function restoreSnapshot(simulation: Simulation, snapshot: Snapshot, file: string): void {
  const { heading, records, takenAt } = snapshot;
  const away = simulation.clock.mode === 'real' ? Math.max(0, Date.now() - takenAt) : 0;
  try {
    simulation.restore({ heading: { ...heading, time: heading.time + away }, records });
    simulation.chaos.set(simulation.settings.chaos);
  } catch (error) {
    throw badSnapshot(file, error);
  }
}
