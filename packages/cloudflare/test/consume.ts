import { afterEach, jest } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import type { DeadLetter } from '@call-webhooks/core';
import {
  createQueueConsumer,
  type ObjectNamespace,
  type QueueConsumerOptions,
} from '../src/index.ts';

/** Bodies that are kept for messages; empty if the job is done. */
export const bodies = new Map<string, string>();
/** The object that has them. */
export const object = { isDown: false };
const largeBodies: ObjectNamespace = {
  idFromName: (name) => name,
  get: () => ({
    loadBody: (id: string) =>
      object.isDown ? Promise.reject(new Error('down')) : Promise.resolve(bodies.get(id)),
    dropBody: (id: string) => Promise.resolve(void bodies.set(id, '')),
  }),
};

export const base64 = (text: string) => Buffer.from(text).toString('base64');
export const delivery = (callId: string, more: object = {}) => ({
  ...{ webhookId: callId, timestamp: 1, receivedAt: 1, key: callId },
  ...{ body: base64(callBody(callId)), ...more },
});

/** What happened, in order. */
export const events: string[] = [];
export const letters: DeadLetter[] = [];
export const logger = collectingLogger();
export const deadLetter = (letter: DeadLetter) => {
  letters.push(letter);
  events.push('letter');
};
export const always = () => {
  events.push('run');
  throw new Error('never');
};

/** A consumer, with functions that deliver messages to it, and the delays of those that come again. */
export function batches(options: Partial<QueueConsumerOptions> = {}) {
  const take = createQueueConsumer(() => ({
    ...{ logger, largeBodies, deadLetter, backoff: { initialDelay: 5_000, maxDelay: 5_000 } },
    on: { 'call:completed': always },
    ...options,
  }));
  const delays: (number | undefined)[] = [];
  const ack = () => void events.push('ack');
  const retry = ({ delaySeconds }: { delaySeconds?: number } = {}) => {
    delays.push(delaySeconds);
    events.push(delaySeconds === 0 ? 'retry at once' : 'retry');
  };
  const consume = (messages: readonly { id: string; body: unknown; attempts: number }[]) =>
    take({ queue: 'calls', messages: messages.map((one) => ({ ...one, ack, retry })) }, {});
  const deliver = (body: unknown, attempts: number, id = 'm1') => consume([{ id, body, attempts }]);
  return { consume, deliver, delays };
}

/** A consumer, as a function that delivers a message to it: its body, and for which time. */
export const consumer = (options?: Partial<QueueConsumerOptions>) => batches(options).deliver;

/** Lets jobs come too late to begin, until it is called again. */
export function setLate(isLate: boolean): void {
  jest
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((ms) =>
      isLate && ms === 420_000 ? AbortSignal.abort() : new AbortController().signal,
    );
}

afterEach(() => {
  jest.restoreAllMocks();
  events.length = 0;
  letters.length = 0;
  object.isDown = false;
});
