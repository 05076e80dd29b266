import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  createReceiver,
  type Logger,
  memoryDeadLetters,
  memoryStore,
  type Redact,
  type Store,
} from '../../src/index.ts';
import {
  createJobProcessor,
  type JobResult,
  type LeasedJob,
  LeasedJobRun,
  startRetention,
  sweepingBeside,
} from '../../src/stores.ts';
import { WebhookError } from '../../src/errors.ts';
import { delivery, Lines, SECRET, STARTED } from '../support.ts';

const MINUTE = 60_000;

/** Has what is always removed, and what only a function of the user can know. */
const failure = () => new Error('no room for the order QX-17 of ada@example.com');
const failing = () => Promise.reject(failure());

const SHOWN: readonly (readonly [name: string, redact: Redact | undefined, text: string])[] = [
  ['the absence', undefined, 'no room for the order QX-17 of [redacted]'],
  ["the value 'standard'", 'standard', 'no room for the order QX-17 of [redacted]'],
  ["the value 'off'", 'off', 'no room for the order QX-17 of ada@example.com'],
  [
    'a function',
    (text) => text.replaceAll('QX-17', '[order]'),
    'no room for the order [order] of ada@example.com',
  ],
];

interface Given {
  readonly logger: Logger;
  readonly redact: Redact | undefined;
}

const expiring = { keepFor: 3_600_000, removeExpired: failing };

async function jobWith(
  { logger, redact }: Given,
  result: JobResult,
  own: Partial<LeasedJob>,
): Promise<void> {
  const written = () => Promise.resolve();
  const job: LeasedJob = {
    delivery: { webhookId: 'id-1', timestamp: 1, receivedAt: 1, body: '' },
    ...{ attempt: 1, isLastAttempt: false, expiresIn: 20_000 },
    ...{ complete: written, retry: written, moveToDead: written, release: written },
    ...own,
  };
  const stop = new AbortController();
  const done = new LeasedJobRun(job, () => Promise.resolve(result), logger, redact).run(
    stop.signal,
  );
  await jest.advanceTimersByTimeAsync(10_000);
  stop.abort();
  await done;
}

const failed = new WebhookError('handler-failed', 'The handler failed: Error: no');

/** What runs in the background, and the lines of its failure. */
const OPERATIONS: Readonly<
  Record<string, readonly [run: (given: Given) => Promise<unknown>, ...lines: string[]]>
> = {
  'the removal of dead letters by a receiver': [
    async (given) => {
      const deadLetter = { ...memoryDeadLetters(), ...expiring };
      const receiver = createReceiver({ ...given, secret: SECRET, deadLetter });
      await jest.advanceTimersByTimeAsync(MINUTE);
      await receiver.close();
    },
    'warn expired dead letters could not be removed. The next attempt is in a minute: Error: $',
  ],
  'the removal of dead jobs by a receiver': [
    async (given) => {
      const queue = { enqueue: () => Promise.resolve(), ...expiring };
      const receiver = createReceiver({ ...given, secret: SECRET, queue });
      await jest.advanceTimersByTimeAsync(MINUTE);
      await receiver.close();
    },
    'warn expired dead jobs could not be removed. The next attempt is in a minute: Error: $',
  ],
  'the removal of dead letters by a worker': [
    async (given) => {
      const deadLetter = { ...memoryDeadLetters(), ...expiring };
      const processor = createJobProcessor({ ...given, deadLetter });
      await jest.advanceTimersByTimeAsync(MINUTE);
      await processor.close();
    },
    'warn expired dead letters could not be removed. The next attempt is in a minute: Error: $',
  ],
  'the removal of dead jobs by a worker': [
    async (given) => {
      const retention = startRetention({ 'dead jobs': expiring }, given);
      await jest.advanceTimersByTimeAsync(MINUTE);
      await retention?.close();
    },
    'warn expired dead jobs could not be removed. The next attempt is in a minute: Error: $',
  ],
  'the outcome log of a receiver': [
    async (given) => {
      const own = memoryStore();
      const store: Store = { ...own, log: { ...own.log!, append: failing } };
      const receiver = createReceiver({ ...given, secret: SECRET, store });
      await receiver.deliver(STARTED, { source: 'reconcile' });
      await jest.advanceTimersByTimeAsync(1_000);
      await receiver.close();
    },
    'warn there is no handler for the event "call:started"',
    'warn the outcome log could not be written and will be tried again; deliveries are not affected: Error: $',
  ],
  'the outcome log of a worker': [
    async (given) => {
      const processor = createJobProcessor({
        ...given,
        on: { 'call:started': () => undefined },
        log: { ...memoryStore().log!, append: failing },
      });
      const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
      await processor({ webhookId: 'id-1', timestamp: 1, receivedAt: 1, body });
      await jest.advanceTimersByTimeAsync(1_000);
      await processor.close();
    },
    'warn the outcome log could not be written and will be tried again; deliveries are not affected: Error: $',
  ],
  'the refresh of cached secrets': [
    async (given) => {
      const secret = jest.fn(() => Promise.resolve(SECRET));
      const on = { 'call:started': () => undefined };
      const receiver = createReceiver({ ...given, secret, on });
      const send = async () =>
        receiver.receive(await delivery(STARTED, { timestamp: Math.floor(Date.now() / 1_000) }));
      await send();
      secret.mockImplementation(failing);
      await jest.advanceTimersByTimeAsync(5 * MINUTE);
      await send();
      await receiver.close();
    },
    'warn The secret provider failed: Error: $. The cached secrets remain in use.',
  ],
  'waitUntil of a host': [
    async (given) => {
      const receiver = createReceiver({
        ...{ ...given, secret: SECRET, ackWithin: 100 },
        waitUntil: failing,
        on: { 'call:started': () => new Promise((resolve) => setTimeout(resolve, 200)) },
      });
      const request = await delivery(STARTED, { timestamp: Math.floor(Date.now() / 1_000) });
      const answered = receiver.receive(request);
      await jest.advanceTimersByTimeAsync(1_000);
      await answered;
      await receiver.close();
    },
    'error 503 deadline: The handler took longer than ackWithin (100 ms). It keeps running.',
    'warn waitUntil failed: Error: $',
    "warn the handler finished after its deadline: it took 0.2 s. The event is done, and the service's retry will be a duplicate.",
  ],
  'the success of a job': [
    (given) => jobWith(given, { status: 'done' }, { complete: failing }),
    'warn the queue did not accept the result of a job: Error: $. The worker tries again until the queue accepts it or the worker stops.',
    'warn the queue never accepted the result of a job: Error: $. The job will run again.',
  ],
  'the retry of a job': [
    (given) => jobWith(given, { status: 'retry', error: failed }, { retry: failing }),
    'warn the queue did not accept the result of a job: Error: $. The worker tries again until the queue accepts it or the worker stops.',
    'warn the queue never accepted the result of a job: Error: $. The job will run again.',
  ],
  'the burial of a job': [
    (given) => jobWith(given, { status: 'dead', error: failed }, { moveToDead: failing }),
    'warn the queue did not accept the result of a job: Error: $. The worker tries again until the queue accepts it or the worker stops.',
    'warn the queue never accepted the result of a job: Error: $. The job will run again.',
  ],
};

describe('the lines of a failure in the background', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
  });

  it.each(
    Object.entries(OPERATIONS).flatMap(([what, [run, ...lines]]) =>
      SHOWN.map(([name, redact, text]) => ({ what, run, lines, name, redact, text })),
    ),
  )(
    'are redacted as $name of the option redact says: $what',
    async ({ run, lines, redact, text }) => {
      const logger = new Lines();
      await run({ logger, redact });
      const written = logger.entries.map(({ level, message }) =>
        `${level} ${message}`.replace('call-webhooks: ', '').replace(/, so it is ack.*/s, ''),
      );
      expect(written).toEqual(lines.map((line) => line.replace('$', text)));
      const errors = logger.entries.flatMap(({ fields: { err } }) => err ?? []) as Error[];
      expect(errors.map(({ message }) => message)).toEqual(
        lines.filter((line) => line.includes('$')).map(() => text),
      );
      expect(errors.map(({ stack = '' }) => stack.split('\n')[0])).toEqual(
        errors.map(() => `Error: ${text}`),
      );
    },
  );

  it('are redacted in the standard way by a store that sweeps, which has no option redact', async () => {
    const logger = new Lines();
    const sweeper = sweepingBeside({
      ...{ sweep: failing, logger, database: 'Postgres', docs: 'stores.md#postgres' },
    });
    sweeper.count();
    await sweeper.idle();
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        fields: {
          err: expect.objectContaining({ message: 'no room for the order QX-17 of [redacted]' }),
          docs: expect.stringMatching(/stores\.html#postgres$/),
        },
        message:
          'call-webhooks: deleting old rows of the Postgres store failed: Error: no room for the order QX-17 of [redacted]',
      },
    ]);
  });
});
