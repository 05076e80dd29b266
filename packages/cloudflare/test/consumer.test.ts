import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import type { DeadLetter } from '@call-webhooks/core';
import {
  createQueueConsumer,
  type ObjectNamespace,
  type QueueConsumerOptions,
} from '../src/index.ts';

/** Bodies that are kept for messages; empty if the job is done. */
const bodies = new Map<string, string>();
let isObjectDown = false;
const largeBodies: ObjectNamespace = {
  idFromName: (name) => name,
  get: () => ({
    loadBody: (id: string) =>
      isObjectDown ? Promise.reject(new Error('down')) : Promise.resolve(bodies.get(id)),
    dropBody: (id: string) => Promise.resolve(void bodies.set(id, '')),
  }),
};

const base64 = (text: string) => Buffer.from(text).toString('base64');
const delivery = (callId: string, more: object = {}) => ({
  ...{ webhookId: callId, timestamp: 1, receivedAt: 1, key: callId },
  ...{ body: base64(callBody(callId)), ...more },
});

/** What happened, in order. */
let events: string[] = [];
const letters: DeadLetter[] = [];
const logger = collectingLogger();
const deadLetter = (letter: DeadLetter) => {
  letters.push(letter);
  events.push('letter');
};
const always = () => {
  events.push('run');
  throw new Error('never');
};

/** A consumer, with a function that delivers a message to it: its body, and for which time. */
function consumer(options: Partial<QueueConsumerOptions> = {}) {
  const consume = createQueueConsumer(() => ({
    ...{ logger, largeBodies, deadLetter, backoff: { initialDelay: 5_000, maxDelay: 5_000 } },
    on: { 'call:completed': always },
    ...options,
  }));
  return (body: unknown, attempts: number, id = 'm1') => {
    const ack = () => void events.push('ack');
    const retry = (how?: { delaySeconds?: number }) =>
      void events.push(how?.delaySeconds === 0 ? 'retry at once' : 'retry');
    return consume({ queue: 'calls', messages: [{ id, body, attempts, ack, retry }] }, {});
  };
}

/** Lets jobs come too late to begin, until it is called again. */
function setLate(isLate: boolean): void {
  jest
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((ms) =>
      isLate && ms < 840_000 ? AbortSignal.abort() : new AbortController().signal,
    );
}

afterEach(() => {
  jest.restoreAllMocks();
  events = [];
  letters.length = 0;
  isObjectDown = false;
});

describe('deliveries of a message whose job did not run', () => {
  it('are no attempts: what came too late in its batch is run as often as any other', async () => {
    const deliver = consumer();
    setLate(true);
    for (const attempts of [1, 2, 3, 4]) await deliver(delivery('late'), attempts);
    expect(events).toEqual(Array<string>(4).fill('retry at once'));
    setLate(false);
    for (const attempts of [5, 6, 7]) await deliver(delivery('late'), attempts);
    expect(events.slice(4)).toEqual(['run', 'retry', 'run', 'retry', 'run', 'letter', 'ack']);
    expect(letters).toMatchObject([{ attempt: 3, error: new Error('never') }]);
  });

  it('are no attempts while the object with the body does not answer', async () => {
    bodies.set('large', delivery('large').body);
    const deliver = consumer();
    isObjectDown = true;
    for (const attempts of [1, 2, 3, 4])
      await deliver(delivery('large', { body: '', largeBody: 'large' }), attempts);
    expect(events).toEqual(['retry', 'retry', 'retry', 'retry']);
    isObjectDown = false;
    await deliver(delivery('large', { body: '', largeBody: 'large' }), 5);
    expect(events.slice(4)).toEqual(['run', 'retry']);
  });

  it('never give it up: an instance that does not know the message runs it first', async () => {
    const runs: number[] = [];
    const deliver = consumer({
      on: { 'call:completed': (_event, { attempt }) => void runs.push(attempt) },
    });
    await deliver(delivery('unknown'), 9);
    expect([runs, events]).toEqual([[9], ['ack']]);
    await consumer()(delivery('unknown'), 9);
    expect(events.slice(1)).toEqual(['run', 'letter', 'ack']);
  });
});

describe('a job that was given up', () => {
  it('goes to a deadLetter that failed again, with the reason and without the handler', async () => {
    let isFull = true;
    const deliver = consumer({
      maxRuns: 1,
      deadLetter(letter) {
        if (isFull) throw new Error('full');
        deadLetter(letter);
      },
    });
    for (const attempts of [1, 2]) await deliver(delivery('a'), attempts);
    isFull = false;
    await deliver(delivery('a'), 3);
    expect(events).toEqual(['run', 'retry', 'retry', 'letter', 'ack']);
    expect(String(letters[0]?.error)).toContain('never');
  });

  it('goes to a deadQueue that failed again, and not to deadLetter', async () => {
    let isFull = true;
    const send = () => {
      if (isFull) throw new Error('full');
      events.push('dead');
      return Promise.resolve();
    };
    const deliver = consumer({ maxRuns: 1, deadQueue: { send } });
    await deliver(delivery('b'), 1);
    isFull = false;
    await deliver(delivery('b'), 2);
    expect(events).toEqual(['run', 'letter', 'retry', 'dead', 'ack']);
    expect(logger.lines.join('\n')).toContain('a dead job could not be sent to deadQueue');
  });
});

describe('a message that no receiver sent', () => {
  const foreign = [
    null,
    undefined,
    '',
    0,
    'text',
    { body: '!' },
    [1],
    { webhookId: 'w', body: '!' },
  ];

  it.each(foreign)('%j goes to deadQueue as it is', async (body) => {
    const sent: unknown[] = [];
    const send = (...message: unknown[]) => Promise.resolve(void sent.push(message));
    await consumer({ deadQueue: { send } })(body, 1);
    expect([sent, events]).toEqual([[[body, { contentType: 'v8' }]], ['ack']]);
  });

  it.each(foreign)('%j is not acknowledged without deadQueue', async (body) => {
    await consumer()(body, 1);
    expect(events).toEqual(['retry']);
  });
});

it('acknowledges a message whose job is done, and retries one without its large body', async () => {
  bodies.set('done', '');
  await consumer()(delivery('done', { body: '', largeBody: 'done' }), 1);
  await consumer()(delivery('gone', { body: '', largeBody: 'gone' }), 1);
  expect(events).toEqual(['ack', 'retry']);
});
