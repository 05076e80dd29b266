import { jest } from '@jest/globals';
import { collectingLogger, queuedCall } from '@call-webhooks/contract-tests';
import { createBullmqWorker } from '../src/index.ts';
import type { BullmqJobLike } from '../src/bullmq-job.ts';

/** What `createBullmqWorker` gives to BullMQ, which would run jobs with it. */
export function madeWorker(options: object = {}, { pause = () => Promise.resolve() } = {}) {
  const made: unknown[][] = [];
  const listeners = new Map<string, (error: Error) => void>();
  const pausing = jest.fn((_doNotWaitActive?: boolean) => pause());
  const closing = jest.fn((_force?: boolean) => Promise.resolve());
  class Worker {
    readonly opts: { lockDuration?: number };
    pause = pausing;
    close = closing;
    constructor(...args: unknown[]) {
      made.push(args);
      this.opts = args[2] as object;
    }
    on(event: string, listener: (error: Error) => void) {
      listeners.set(event, listener);
    }
  }
  const logger = collectingLogger();
  const { worker, close } = createBullmqWorker({
    ...{ Worker, queueName: 'calls', connection: { port: 6379 }, logger },
    on: { 'call:completed': () => undefined },
    ...options,
  });
  const [name, run, settings] = made[0] as [
    string,
    (job: BullmqJobLike, token?: string) => Promise<void>,
    Record<string, unknown>,
  ];
  return { worker, close, name, run, settings, pausing, closing, listeners, logger };
}

/** A job whose lock is held. */
export const job = (): BullmqJobLike & { extendLock: jest.Mock } => ({
  ...{ id: '1', data: queuedCall('call-1'), opts: { attempts: 3 } },
  ...{ attemptsMade: 0, attemptsStarted: 1, stalledCounter: 0 },
  extendLock: jest.fn(() => Promise.resolve(1)),
  updateData: () => Promise.resolve(),
  moveToDelayed: () => Promise.resolve(),
});
