import type { Logger } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/stores';

/** What is used of the options of ioredis. A cluster has those of its nodes. */
interface Timeouts {
  readonly socketTimeout?: unknown;
  readonly redisOptions?: Timeouts;
}

/** What is used of a client of ioredis. */
interface Client {
  readonly options?: Timeouts;
  readonly defineCommand?: unknown;
}

/** Clients of which the log was told, whatever they are used for. */
const told = new WeakSet();

/** For so long, a worker of BullMQ waits for a job at most; milliseconds. */
const LONGEST_WAIT_MS = 10_000;

/**
 * Warns of a client of ioredis that would wait for a dead connection until the operating system gives it
 * up, which takes a quarter of an hour: a firewall may drop a connection without telling anybody.
 * @param client of any kind
 */
export function warnOfDeadConnections(client: object, logger: Logger): void {
  const { defineCommand, options = {} } = client as Client;
  if (typeof defineCommand === 'function') warn(client, timeoutOf(options), logger, 5_000);
}

/**
 * The same for the connection of BullMQ: a client, or the options of one of ioredis.
 * @param isWorker a worker waits for a job with a command that lasts
 */
export function warnOfDeadConnectionsOfBullmq(
  connection: object,
  isWorker: boolean,
  logger: Logger,
): void {
  const isOfOthers = 'sendCommand' in connection && !('defineCommand' in connection);
  if (isOfOthers || 'send' in connection) return; // node-redis, Bun
  const { options = connection } = connection as Client;
  const timeout = timeoutOf(options);
  warn(connection, timeout, logger, isWorker ? 15_000 : 5_000);
  if (isWorker && timeout > 0 && timeout <= LONGEST_WAIT_MS)
    logger.warn(
      { docs: docsUrl('queues.md#bullmq') },
      `call-webhooks: the socketTimeout of BullMQ's worker is ${String(timeout)}. BullMQ waits up to 10 s for a job, so the worker reconnects again and again. Set socketTimeout: 15000.`,
    );
}

const timeoutOf = ({ socketTimeout, redisOptions }: Timeouts) =>
  Number(socketTimeout ?? redisOptions?.socketTimeout ?? 0);

function warn(client: object, timeout: number, logger: Logger, example: number): void {
  if (timeout > 0 || told.has(client)) return;
  told.add(client);
  logger.warn(
    { docs: docsUrl('stores.md#dead-connections') },
    `call-webhooks: ioredis has no socketTimeout. If a firewall drops its connection, it waits for many minutes before it reconnects. Set socketTimeout: ${String(example)}. (commandTimeout does not help.)`,
  );
}
