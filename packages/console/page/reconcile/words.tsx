import type { ReconcileCounts, ReconcileRun } from '../../src/api-types.ts';
import type { Tone } from '@call-webhooks/ui';
import { shortTime } from '../model/format.ts';

/** `Calls from 08:00:00 to 11:50:00`. */
export const windowText = ({ since, until }: Pick<ReconcileRun, 'since' | 'until'>): string =>
  `Calls from ${shortTime(since)} to ${shortTime(until)}`;

/** What became of the events, in the order in which it is told. */
export const COUNTS: readonly (readonly [keyof ReconcileCounts, string, Tone])[] = [
  ['missed', 'missed', 'bad'],
  ['handled', 'run now', 'good'],
  ['failed', 'failed', 'bad'],
  ['inDeadLetters', 'in the dead letters', 'wait'],
  ['known', 'handled before', 'good'],
  ['ignored', 'without a handler', 'muted'],
  ['skipped', 'calls left out', 'muted'],
];

export const STATES: Readonly<Record<ReconcileRun['state'], readonly [string, Tone]>> = {
  running: ['Running', 'info'],
  done: ['Done', 'good'],
  aborted: ['Stopped', 'wait'],
  failed: ['Failed', 'bad'],
};
