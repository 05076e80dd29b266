import type { Simulation } from '../simulation.ts';
import { badSnapshot } from './snapshot-file.ts';
import type { Snapshot } from './snapshot-format.ts';

export function takeSnapshot(simulation: Simulation): Snapshot {
  return { ...simulation.dump(), takenAt: Date.now() };
}

/**
 * Restores a snapshot. A real clock has gone on since it was taken; a manual clock has not.
 * @throws SimulatorError `bad-snapshot`
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
