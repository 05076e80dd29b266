// A machine whose store is a Redis, with a handler that is as slow as it is told to be.
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { callWebhooks } from '@call-webhooks/express';
import { redisStore } from '@call-webhooks/redis';
import express from 'express';
import { Redis } from 'ioredis';

/** What the machine is started with: JSON in its only argument. */
export interface RedisMachineInput {
  redisPort: number;
  prefix: string;
  secret: string;
  version: string;
  /** How long the handler takes; milliseconds. */
  slowness: number;
}

const { redisPort, prefix, secret, version, slowness } = JSON.parse(
  process.argv[2] ?? '',
) as RedisMachineInput;
const hook = callWebhooks({
  ...{ secret, version, ackWithin: 2_000 },
  store: redisStore(new Redis({ port: redisPort, socketTimeout: 5_000 }), { prefix }),
  on: { 'call:completed': () => delay(slowness) },
});
const server = express()
  .use('/hook', hook)
  .listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('disconnect', () => process.exit(1)); // the test is gone
