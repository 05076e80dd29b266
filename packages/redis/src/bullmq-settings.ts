import { WebhookError } from '@call-webhooks/core';

/** The name that our jobs ask for their backoff by. `createBullmqWorker` knows it. */
export const BACKOFF_TYPE = 'call-webhooks';

/** Options of BullMQ with which deliveries are lost, or handlers run twice at the same time, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  delay: 'deliveries would wait before they run',
  concurrency: 'it is an option of createBullmqWorker',
  connection: 'it is an option of createBullmqWorker',
  settings: 'the option backoff of the worker sets the time between runs',
  maxStartedAttempts: 'maxRuns of bullmqQueue sets the maximum number of runs',
  skipLockRenewal: 'two workers could run the same job at the same time',
  skipStalledCheck: 'the jobs of a worker that died would never run again',
  lockRenewTime: 'locks are renewed when half of lockDuration has passed',
  deduplication: 'deliveries would be dropped',
  debounce: 'deliveries would be dropped',
  repeat: 'a delivery is not a scheduled job',
  parent: 'deliveries have no parent jobs',
  sizeLimit: 'the bodyLimit of the receiver is the limit',
};

/**
 * @param options of BullMQ's worker, or the `defaultJobOptions` of its queue
 * @throws WebhookError `invalid-options`
 */
export function refuseSettings(creator: string, options: object): void {
  for (const [name, reason] of Object.entries(REFUSED))
    if (Reflect.get(options, name))
      throw invalid(`Invalid options of BullMQ for ${creator}: leave out ${name}: ${reason}.`);
}

/**
 * Refuses options with which a worker of BullMQ runs nothing.
 * @throws WebhookError `invalid-options`
 */
export function refuseIdleWorker(creator: string, options: IdleOptions): void {
  const { autorun, limiter } = options;
  const mistake =
    (autorun === false && 'leave out autorun: false, with which the worker would run no job') ||
    (limiter !== undefined &&
      !(Number(limiter.max) >= 1 && Number(limiter.duration) > 0) &&
      'limiter: expected { max, duration }, both above 0, since otherwise no job would run');
  if (mistake !== false) throw invalid(`Invalid options of BullMQ for ${creator}: ${mistake}.`);
}

interface IdleOptions {
  autorun?: unknown;
  limiter?: { max?: unknown; duration?: unknown };
}

/** What is used of a client of ioredis, or of the options of one. */
interface Connection {
  isCluster?: boolean;
  keyPrefix?: string;
  stringNumbers?: boolean;
  options?: Connection & { redisOptions?: Connection };
}

/**
 * Refuses a connection with which BullMQ loses jobs, or makes some up.
 * @throws WebhookError `invalid-options`
 */
export function checkConnection(
  creator: string,
  connection: Connection = {},
  { prefix }: { prefix?: string },
  queueName: string,
): void {
  const all = [connection, connection.options, connection.options?.redisOptions];
  const mistake =
    (all.some((one) => one?.keyPrefix) &&
      'leave out keyPrefix of ioredis, and set prefix of BullMQ') ||
    (all.some((one) => one?.stringNumbers) && 'leave out stringNumbers of ioredis') ||
    // All keys of a queue have to be in one slot.
    (connection.isCluster === true &&
      !/\{[^}]+\}/.test(`${String(prefix)}:${queueName}`) &&
      "on a cluster, the queue and its workers need a prefix in braces: prefix: '{bull}'");
  if (mistake !== false) throw invalid(`Invalid connection of BullMQ for ${creator}: ${mistake}.`);
}

const invalid = (message: string) =>
  new WebhookError('invalid-options', message, { docs: 'queues.md#bullmq' });
