import { describe, expect, it, jest } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import type { QueuedDelivery } from '@call-webhooks/core';
import { cloudflareQueue } from '../src/index.ts';
import {
  always,
  base64,
  batches,
  bodies,
  consumer,
  deadLetter,
  delivery,
  events,
  letters,
  logger,
  object,
  setLate,
} from './consume.ts';

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
    object.isDown = true;
    for (const attempts of [1, 2, 3, 4])
      await deliver(delivery('large', { body: '', largeBody: 'large' }), attempts);
    expect(events).toEqual(['retry', 'retry', 'retry', 'retry']);
    object.isDown = false;
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

it('aborts the handlers of a batch after 14 minutes, a minute before Cloudflare ends them', async () => {
  const timers = new Map<number, AbortController>();
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    timers.set(ms, new AbortController());
    return timers.get(ms)!.signal;
  });
  const aborted: boolean[] = [];
  const deliver = consumer({
    on: {
      'call:completed': (_event, { signal }) => {
        timers.get(420_000)!.abort();
        aborted.push(signal.aborted);
        timers.get(840_000)!.abort();
        aborted.push(signal.aborted);
      },
    },
  });
  await deliver(delivery('slow'), 1);
  expect(aborted).toEqual([false, true]);
});

describe('what an instance remembers of a message', () => {
  const late = (ids: readonly string[]) =>
    ids.map((id) => ({ id, body: delivery(id), attempts: 1 }));
  const ids = (count: number) => Array.from({ length: count }, (_, at) => `m${String(at)}`);

  it.each([
    [9_999, 1],
    [10_000, 2],
  ])('is forgotten once %d others came after it', async (others, attempt) => {
    const runs: number[] = [];
    const { deliver, consume } = batches({
      on: { 'call:completed': (_event, context) => void runs.push(context.attempt) },
    });
    setLate(true);
    await consume(late(['first']));
    await consume(late(ids(others)));
    setLate(false);
    await deliver(delivery('first'), 2, 'first');
    expect(runs).toEqual([attempt]);
  });

  it('counts from when it last came, for those that come again and again', async () => {
    const runs: number[] = [];
    const { deliver, consume } = batches({
      on: { 'call:completed': (_event, context) => void runs.push(context.attempt) },
    });
    setLate(true);
    await consume(late(['first']));
    await consume(late(ids(9_999)));
    await deliver(delivery('first'), 2, 'first');
    await consume(late(['newest']));
    setLate(false);
    await deliver(delivery('first'), 3, 'first');
    expect(runs).toEqual([1]);
  });

  it('is forgotten once its job is done: Cloudflare may deliver it again', async () => {
    const runs: number[] = [];
    const { deliver } = batches({
      on: { 'call:completed': (_event, { attempt }) => void runs.push(attempt) },
    });
    setLate(true);
    await deliver(delivery('again'), 1);
    setLate(false);
    await deliver(delivery('again'), 2);
    await deliver(delivery('again'), 3);
    expect(runs).toEqual([1, 3]);
  });

  it('is forgotten once it went to deadQueue', async () => {
    let isFull = true;
    const send = () => (isFull ? Promise.reject(new Error('full')) : Promise.resolve());
    const { deliver } = batches({ maxRuns: 1, deadQueue: { send } });
    await deliver(delivery('dead'), 1);
    isFull = false;
    await deliver(delivery('dead'), 2);
    await deliver(delivery('dead'), 3);
    expect(events.filter((event) => event === 'run')).toHaveLength(2);
  });
});

it.each([
  [2, 2],
  [undefined, 4],
])(
  'runs the jobs of a batch, with concurrency: %p at most %d at once',
  async (concurrency, most) => {
    let running = 0;
    const seen: number[] = [];
    const { consume } = batches({
      ...(concurrency !== undefined && { concurrency }),
      on: {
        async 'call:completed'() {
          seen.push(++running);
          await new Promise(setImmediate);
          running--;
        },
      },
    });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await consume(names.map((id) => ({ id, body: delivery(id), attempts: 1 })));
    expect(seen).toHaveLength(6);
    expect(Math.max(...seen)).toBe(most);
    expect(events).toEqual(Array<string>(6).fill('ack'));
  },
);

it('keeps a body that is too large for a message for 30 days, longer than any message lives', async () => {
  const kept: unknown[][] = [];
  const sent: QueuedDelivery[] = [];
  const send = (message: QueuedDelivery) => Promise.resolve(void sent.push(message));
  const keepBody = (...given: unknown[]) => Promise.resolve(void kept.push(given));
  const namespace = { idFromName: (name: string) => name, get: () => ({ keepBody }) };
  const queue = cloudflareQueue({ send }, { largeBodies: namespace });
  const large = delivery('large', { body: 'A'.repeat(100_004) }) as QueuedDelivery;
  const small = delivery('small', { body: 'A'.repeat(100_000) }) as QueuedDelivery;
  await queue.enqueue(small);
  await queue.enqueue(large);
  const largeBody = expect.any(String) as unknown;
  expect(sent).toEqual([small, { ...large, body: '', largeBody }]);
  expect(kept).toEqual([[largeBody, large.body, 30 * 86_400_000]]);
});

describe('the delay of a retry', () => {
  const delayOf = async (attempt: number, backoff: object) => {
    const { deliver, delays } = batches({ maxRuns: 100, backoff });
    await deliver(delivery('a'), attempt);
    return delays[0];
  };

  it('is in whole seconds, doubles with each attempt, and has a maximum', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5); // without jitter
    const backoff = { initialDelay: 1_500, maxDelay: 10_000 };
    const delays = await Promise.all([1, 2, 3, 4, 9].map((attempt) => delayOf(attempt, backoff)));
    expect(delays).toEqual([2, 3, 6, 10, 10]);
  });

  it('counts the runs of a job, and no delivery that came too late to run it', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5); // without jitter
    const backoff = { initialDelay: 1_500, maxDelay: 100_000 };
    const send = () => Promise.reject(new Error('full'));
    const { deliver, delays } = batches({ maxRuns: 3, backoff, deadQueue: { send } });
    setLate(true);
    for (const attempts of [1, 2, 3, 4]) await deliver(delivery('late'), attempts);
    setLate(false);
    for (const attempts of [5, 6, 7, 8]) await deliver(delivery('late'), attempts);
    expect(delays).toEqual([0, 0, 0, 0, 2, 3, 6, 12]);
    expect(events.slice(4).filter((event) => event === 'run')).toHaveLength(3);
  });

  it('is never longer than the 12 hours that Cloudflare takes, jitter included', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.999);
    const backoff = { initialDelay: 43_200_000, maxDelay: 43_200_000 };
    expect(await delayOf(9, backoff)).toBe(43_200);
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

  const interruptions: readonly [what: string, begin: () => void, end: () => void][] = [
    ['too late in its batch', () => setLate(true), () => setLate(false)],
    [
      'while the object with its body does not answer',
      () => void (object.isDown = true),
      () => void (object.isDown = false),
    ],
  ];

  it.each(interruptions)('stays so when it comes again %s', async (_what, begin, end) => {
    bodies.set('large', delivery('large').body);
    const message = delivery('large', { body: '', largeBody: 'large' });
    let [isFull, isQueueFull] = [true, true];
    const deliver = consumer({
      maxRuns: 1,
      deadLetter(letter) {
        if (isFull) throw new Error('full');
        deadLetter(letter);
      },
      deadQueue: {
        send() {
          if (isQueueFull) return Promise.reject(new Error('full'));
          return Promise.resolve(void events.push('sent'));
        },
      },
    });
    const again = async (attempts: number) => {
      begin();
      await deliver(message, attempts);
      end();
    };
    await deliver(message, 1);
    await again(2);
    isFull = false;
    await deliver(message, 3);
    await again(4);
    isQueueFull = false;
    await deliver(message, 5);
    // The handler has run once, and deadLetter has it once.
    const done = events.filter((event) => !event.startsWith('retry'));
    expect(done).toEqual(['run', 'letter', 'sent', 'ack']);
    expect(String(letters[0]?.error)).toContain('never');
  });

  it.each([
    ['stays where it is while the message is in deadQueue', true, always, true],
    ['is deleted after deadLetter took it, without deadQueue', false, always, false],
    ['is deleted once the job is done', true, () => undefined, false],
  ])('has a large body that %s', async (_what, hasDeadQueue, handler, isKept) => {
    const body = base64(callBody('large'));
    bodies.set('large', body);
    const sent: unknown[] = [];
    const deadQueue = { send: (message: unknown) => Promise.resolve(void sent.push(message)) };
    const message = delivery('large', { body: '', largeBody: 'large' });
    const on = { 'call:completed': handler };
    await consumer({ maxRuns: 1, on, ...(hasDeadQueue && { deadQueue }) })(message, 1);
    expect(events.at(-1)).toBe('ack');
    expect(bodies.get('large')).toBe(isKept ? body : '');
    expect(sent).toEqual(isKept ? [message] : []);
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

describe('the line of what will be tried again', () => {
  const refuse = (what: string) => () => Promise.reject(new Error(`${what}: token hunter2`));
  const redact = (text: string) => text.replace('hunter2', '***');
  const lineOf = (what: string, text: string, deliveries: number) => ({
    level: 'error',
    message: `call-webhooks: ${what} and will be tried again: Error: ${text}`,
    fields: {
      ...{ queue: 'calls', messageId: 'm1', deliveries },
      err: expect.objectContaining({ message: text }),
      docs: expect.stringMatching(/\/queues\.html#cloudflare-queues$/),
    },
  });

  it('names the message, its queue and the error, redacted as all others, if its body was not there', async () => {
    const own = collectingLogger();
    const object = { loadBody: refuse('no body') };
    const largeBodies = { idFromName: (name: string) => name, get: () => object };
    const message = delivery('large', { body: '', largeBody: 'large' });
    await consumer({ logger: own, redact, largeBodies })(message, 4);
    expect(own.entries).toEqual([
      lineOf('the job of a message could not be started', 'no body: token ***', 4),
    ]);
  });

  it('does so as well if deadQueue takes no dead job', async () => {
    const own = collectingLogger();
    const deadQueue = { send: refuse('no queue') };
    await consumer({ logger: own, redact, deadQueue, maxRuns: 1 })(delivery('b'), 1);
    expect(own.entries.at(-1)).toEqual(
      lineOf('a dead job could not be sent to deadQueue', 'no queue: token ***', 1),
    );
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
