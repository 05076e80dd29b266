import type { Tone } from '@call-webhooks/ui';
import type { CallEvent, DeadLetterRow, DeliveryRow, RedriveCounts } from '../../src/api-types.ts';

export const RESULTS: Readonly<Record<DeliveryRow['result'], readonly [string, Tone]>> = {
  acknowledged: ['Acknowledged', 'good'],
  failed: ['Failed', 'bad'],
  refused: ['Refused', 'wait'],
};

export const SOURCES: Readonly<Record<DeliveryRow['source'], string>> = {
  webhook: 'a webhook',
  queue: 'the queue',
  redrive: 'a redrive',
  reconcile: 'a reconcile',
};

/** What happens after a delivery that was not answered 2xx. Only webhooks are sent by the service. */
export const AFTER_FAILURE: Readonly<Record<DeliveryRow['source'], string>> = {
  webhook: 'The service sends it again.',
  queue: 'The queue runs it again.',
  redrive: 'Nothing runs it again by itself: it waits in the dead letters for the next redrive.',
  reconcile: 'The service does not send it again: the next reconcile finds it.',
};

/** What happens after a delivery that was answered 2xx. */
export const AFTER_SUCCESS: typeof AFTER_FAILURE = {
  webhook: 'The service is done with it.',
  queue: 'The queue is done with it.',
  redrive: 'The redrive is done with it.',
  reconcile: 'The reconcile is done with it.',
};

export const REASONS: Readonly<Record<DeadLetterRow['reason'], string>> = {
  'handler-failed': 'The handler failed',
  'invalid-payload': 'Invalid payload',
};

/** What a failed event waits for depends on where it came from: `AFTER_FAILURE`. */
export const EVENT_STATES: Readonly<
  Record<CallEvent['state'], readonly [string, Tone, meaning?: string]>
> = {
  'not-seen': ['Not seen', 'muted', 'This process has seen no delivery of it.'],
  handled: ['Handled', 'good', 'The event is done.'],
  queued: ['Queued', 'info', 'A worker has not finished it yet.'],
  failed: ['Failed', 'bad'],
  'dead-lettered': ['Dead letter', 'bad', 'It failed for good and waits to be redriven.'],
};

/** What became of dead letters, in the order in which it is told. */
export const REDRIVE_RESULTS: readonly (readonly [keyof RedriveCounts, string, Tone])[] = [
  ['handled', 'handled', 'good'],
  ['queued', 'given back to the queue', 'info'],
  ['failed', 'failed again', 'bad'],
  ['alreadyHandled', 'handled before', 'good'],
  ['unknown', 'without a result in time', 'wait'],
  ['skipped', 'skipped', 'muted'],
];

/** The names of the events of the service, for filters. */
export const EVENT_NAMES = ['call:started', 'call:completed', 'call:recording-available'] as const;
