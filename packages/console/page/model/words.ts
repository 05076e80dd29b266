import { count, type Tone } from '@call-webhooks/ui';
import type {
  DeadLetterRow,
  DeliveryRow,
  ErasureTask,
  ReconcileTask,
  RedriveTask,
  RemovalTask,
  Result,
} from '../../src/api-types.ts';

export const RESULTS: Readonly<Record<Result, readonly [text: string, tone: Tone]>> = {
  handled: ['Handled', 'good'],
  duplicate: ['Duplicate', 'info'],
  ignored: ['Ignored', 'muted'],
  'dead-letter': ['Dead letter', 'bad'],
  'in-dead-letters': ['In dead letters', 'pale'],
  failed: ['Failed', 'bad'],
  rejected: ['Rejected', 'wait'],
};

type Source = DeliveryRow['source'];

/** In the order in which they are told. */
export const SOURCES: Readonly<
  Record<Source, readonly [name: string, from: string, label: string]>
> = {
  webhook: ['Webhook deliveries', 'a webhook', 'Webhook'],
  queue: ['Queued runs', 'the queue', 'Queue'],
  redrive: ['Redrives', 'a redrive', 'Redrive'],
  reconcile: ['Reconcile runs', 'a reconcile run', 'Reconcile run'],
};

/** What happens after a failure. Only webhooks are sent by the service. */
export const AFTER_FAILURE: Readonly<Record<Source, string>> = {
  webhook: 'The service will send it again.',
  queue: 'The queue will run it again.',
  redrive: 'It stays in the dead letters until the next redrive.',
  reconcile: 'The service will not send it again. The next reconcile run will find it.',
};

/** What happens after a replayed request, whose event is not touched. */
export const AFTER_REPLAY =
  'The service will not send it again, because it is a copy of a request that was answered before.';

/** What happens after a 2xx. */
export const AFTER_SUCCESS: typeof AFTER_FAILURE = {
  webhook: 'The service is done with it.',
  queue: 'The queue is done with it.',
  redrive: 'The redrive is done with it.',
  reconcile: 'The reconcile run is done with it.',
};

export const REASONS: Readonly<Record<DeadLetterRow['reason'], string>> = {
  'handler-failed': 'The handler failed',
  'invalid-payload': 'Invalid payload',
};

/** What the store knows of an event. */
export const EVENT_STATES: Readonly<
  Record<string, readonly [text: string, tone: Tone, meaning: string]>
> = {
  handled: ['Handled', 'good', 'The event has been handled.'],
  running: ['Running', 'info', 'A handler is running now.'],
  failed: ['Failing', 'bad', 'Its last attempt failed.'],
  'dead-lettered': [
    'Dead letter',
    'bad',
    'Its last attempt failed, and its dead letter is waiting to be redriven.',
  ],
  'letter-gone': [
    'No dead letter',
    'muted',
    'Its last attempt failed, but it is not among the dead letters. It has been removed, or it belongs to a queue, so it cannot be redriven.',
  ],
  queued: ['Queued', 'info', 'A worker has not finished it yet.'],
  ignored: ['Ignored', 'muted', 'The event arrived, but no handler is registered for it.'],
  none: [
    'Not seen',
    'muted',
    'No process has seen this event, or the store no longer remembers it.',
  ],
  unknown: [
    'Unknown',
    'muted',
    'Choose a tenant: the store looks up events per tenant. A store without peek() cannot look them up.',
  ],
};

/** What became of dead letters, in the order in which it is told. */
export const REDRIVE_RESULTS: readonly (readonly [keyof RedriveTask['counts'], string, Tone])[] = [
  ['handled', 'handled', 'good'],
  ['queued', 'requeued', 'info'],
  ['failed', 'failed again', 'bad'],
  ['alreadyHandled', 'handled before', 'good'],
  ['unknown', 'without a result in time', 'wait'],
  ['skipped', 'skipped', 'muted'],
  ['notFound', 'not found', 'muted'],
];

/** What became of letters that were to be removed. */
export const REMOVAL_RESULTS: readonly (readonly [keyof RemovalTask['counts'], string, Tone])[] = [
  ['removed', 'removed', 'good'],
  ['notFound', 'not found', 'muted'],
];

/** Where an erasure found something. */
export const ERASURE_RESULTS: readonly (readonly [keyof ErasureTask['counts'], string, Tone])[] = [
  ['deadLetters', 'erased from the dead letters', 'good'],
  ['outcomes', 'erased from the outcome log', 'good'],
  ['keys', 'erased from the keys', 'good'],
  ['running', 'skipped, because a redrive is running', 'wait'],
];

/** What a reconcile found and did, in the order in which it is told. */
export const RECONCILE_COUNTS: readonly (readonly [
  Exclude<keyof ReconcileTask['counts'], 'stoppedEarly'>,
  string,
  Tone,
])[] = [
  ['missed', 'missed', 'bad'],
  ['handled', 'run now', 'good'],
  ['failed', 'failed', 'bad'],
  ['inDeadLetters', 'in the dead letters', 'wait'],
  ['known', 'already known', 'good'],
  ['ignored', 'without a handler', 'muted'],
  ['skipped', 'calls skipped', 'muted'],
];

/** The tasks: how headings name them, and what they count. */
export const TASKS = {
  redrive: ['Redrive', REDRIVE_RESULTS],
  removal: ['Removal', REMOVAL_RESULTS],
  erasure: ['Erasure', ERASURE_RESULTS],
  reconcile: ['Reconcile run', RECONCILE_COUNTS],
} as const;

export type TaskName = keyof typeof TASKS;

/** `3 handled, 1 failed again`. */
export const summaryOf = (
  names: readonly (readonly [name: string, words: string, tone: Tone])[],
  counts: object,
): string =>
  names
    .flatMap(([name, words]) => {
      const times = (counts as Readonly<Record<string, unknown>>)[name];
      return typeof times === 'number' && times > 0 ? [`${count(times)} ${words}`] : [];
    })
    .join(', ') || 'nothing was found';

export const TASK_STATES: Readonly<Record<RedriveTask['state'], readonly [string, Tone]>> = {
  running: ['Running', 'info'],
  done: ['Done', 'good'],
  stopped: ['Stopped', 'wait'],
  failed: ['Failed', 'bad'],
  lost: ['Ended unexpectedly', 'bad'],
};

/** The periods of the overview. */
export const PERIODS = { hour: 'the last hour', day: 'the last 26 hours' } as const;

/** A text that ends with one full stop. */
export const sentence = (text: string): string => `${text.replace(/[.\s]+$/, '')}.`;
