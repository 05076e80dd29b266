import { Buffer } from 'node:buffer';
import type { Queue, QueuedDelivery } from '@call-webhooks/core';
import { signedMessages } from '../deliveries.ts';

/** Our queue and worker, or the bare ones on the same server: the floor. */
export type Which = 'ours' | 'bare';

/** How many jobs a worker runs at once, ours and the bare one. */
export const CONCURRENCY = 16;

/** A job engine, with our queue and worker beside bare ones. Each of the two has its own jobs. */
export interface Backend {
  readonly queue: Queue;
  /** Adds a job with one bare call, as durable as ours. */
  addBare(delivery: QueuedDelivery): Promise<unknown>;
  /** Starts a worker, which calls `onRun` for each job. */
  startWorker(which: Which, onRun: () => void): { close(): Promise<unknown> };
  /** How many jobs are not done. */
  openJobs(which: Which): Promise<number>;
  /** Removes all jobs of both. */
  clear(): Promise<unknown>;
  stop(): Promise<unknown>;
}

/** What a receiver hands to its queue, for so many events of 1 KB. */
export const queuedDeliveries = (number: number): QueuedDelivery[] =>
  signedMessages('service', number).map(({ headers, body }) => {
    const { eventName, callId } = JSON.parse(body.toString()) as Record<string, string>;
    return {
      webhookId: headers['x-service-webhook-id'] as string,
      timestamp: Number(headers['x-service-timestamp']),
      receivedAt: Date.now(),
      key: `${callId as string}:${eventName as string}`,
      eventName: eventName as string,
      body: Buffer.from(body).toString('base64'),
    };
  });
