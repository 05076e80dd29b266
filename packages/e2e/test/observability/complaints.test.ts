import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  callBody,
  describeWithProgram,
  freePort,
  queuedCall,
  redisServer,
  runSample,
  startSender,
  waitFor,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import {
  createReceiver,
  generateSecret,
  sign,
  type Outcome,
  type ReceiverOptions,
} from '@call-webhooks/core';
import { bullmqQueue, createBullmqWorker } from '@call-webhooks/redis';
import { Queue, Worker } from 'bullmq';
import pino from 'pino';
import { fakeSentry } from '../../src/fake-sentry.ts';

// What an engineer on call complained of, before there were structured lines, hooks and outcomes.
// What is the same for all frameworks and queues is in the contract tests: adapter/logging.ts,
// queue/logging.ts.

/** A pino logger, and its lines. */
function pinoLines() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, logger: pino({}, { write }) };
}

/** Sends calls to a receiver whose handler is the one given, and gives what pino was told. */
async function linesOf(handler: (event: { callId?: string }) => unknown, ...callIds: string[]) {
  const { lines, logger } = pinoLines();
  const secret = generateSecret();
  const on = { 'call:completed': handler } as ReceiverOptions['on'];
  const receiver = createReceiver({ secret, logger, ...(on && { on }) });
  for (const callId of callIds) {
    const body = new TextEncoder().encode(callBody(callId));
    await receiver.receive({ method: 'POST', headers: await sign({ secret, body }), body });
  }
  return lines;
}

/** Calls a service that is down, as a handler does. */
const callService = (port: number): Promise<unknown> =>
  fetch(`http://127.0.0.1:${String(port)}/people?email=ada%40example.com`).catch(
    // Node 24 gives the error of fetch no frames of its caller.
    (error: unknown) => {
      const { message, cause } = error as Error;
      throw new TypeError(message, { cause });
    },
  );

describe('in a receiver', () => {
  it('"TypeError: fetch failed", and nothing else: the line has the cause and the frames', async () => {
    const port = await freePort();
    const cause = `connect ECONNREFUSED 127.0.0.1:${String(port)}`;
    expect(await linesOf(() => callService(port), 'call-1')).toMatchObject([
      {
        level: 50,
        msg: `call-webhooks: 500 handler-failed: The handler failed: TypeError: fetch failed; cause: Error: ${cause}`,
        retriedBy: 'service',
        err: {
          type: 'TypeError',
          message: `fetch failed: ${cause}`,
          stack: expect.stringMatching(/complaints\.test\.ts.*\ncaused by: Error: connect/s),
        },
      },
    ]);
  });

  it('"[redacted] ECONNREFUSED [redacted]:5432": the address stays', async () => {
    const message = 'connect ECONNREFUSED 10.0.0.5:5432';
    const [line] = await linesOf(() => Promise.reject(new Error(message)), 'call-1');
    expect(line?.['msg']).toBe(
      `call-webhooks: 500 handler-failed: The handler failed: Error: ${message}`,
    );
  });

  it('nothing ties a log line to a call: it has the ids of call and delivery, the key, the attempt', async () => {
    const fail = () => Promise.reject(new Error('no'));
    expect(await linesOf(fail, 'call-1', 'call-2', 'call-1')).toMatchObject(
      [
        ['call-1', 1],
        ['call-2', 1],
        ['call-1', 2],
      ].map(([callId, attempt]) => ({
        outcome: 'handler-failed',
        eventName: 'call:completed',
        callId,
        key: `${String(callId)}:call:completed`,
        webhookId: expect.any(String),
        attempt,
      })),
    );
  });

  it('the tracker got our WebhookError: it gets the original error, with its cause and the call', async () => {
    const sentry = await fakeSentry();
    const secret = generateSecret();
    const [port, closed] = [String(await freePort()), String(await freePort())];
    const sample = runSample({
      test: import.meta.url,
      document: '../../../../docs/observability.md',
      block: 1,
      replace: { '3000': port, 'https://crm.example.com': `http://127.0.0.1:${closed}` },
      env: { CALL_WEBHOOK_SECRET: secret, SENTRY_DSN: sentry.dsn },
    });
    try {
      await sample.printed('started');
      const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
      expect((await sender.post(callBody('call-1'))).outcome).toBe('handler-failed');
      await waitFor(() => sentry.events.length > 0);
      const [event] = sentry.events;
      // Sentry lists the cause first.
      expect(event?.exception.values.map(({ type, value }) => `${type}: ${value}`)).toEqual([
        `Error: connect ECONNREFUSED 127.0.0.1:${closed}`,
        'TypeError: fetch failed',
      ]);
      const frames = JSON.stringify(event?.exception.values[1]?.stacktrace?.frames);
      // Node 24 gives the error of fetch none, as above.
      if (Number.parseInt(process.versions.node) < 24) expect(frames).toContain('readme-1.ts');
      expect(event?.extra).toMatchObject({
        code: 'handler-failed',
        source: 'handler',
        eventName: 'call:completed',
        callId: 'call-1',
        key: 'call-1:call:completed',
        webhookId: expect.any(String),
        attempt: 1,
        lastAttempt: false,
        late: false,
        queued: false,
      });
    } finally {
      await sample.end();
      await sentry.close();
    }
  });
});

describeWithProgram('redis-server', 'in a BullMQ worker', () => {
  const { lines, logger } = pinoLines();
  const outcomes: Outcome[] = [];
  const delivery = queuedCall('call-1');
  let server: RedisServer;
  let close: () => Promise<void>;
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
    const connection = { host: '127.0.0.1', port: server.port };
    const queue = new Queue('calls', { connection });
    const worker = createBullmqWorker({
      ...{ Worker, queueName: 'calls', connection, logger },
      backoff: { initialDelay: 2, maxDelay: 20 },
      onOutcome: (outcome) => void outcomes.push(outcome),
      on: { 'call:completed': () => Promise.reject(new Error('no')) },
    });
    close = async () => {
      await worker.close();
      await queue.close();
    };
    await bullmqQueue(queue, { maxAttempts: 3, logger }).enqueue(delivery);
    await waitFor(() => outcomes.length === 3);
  });
  afterAll(async () => {
    await close();
    await server.stop();
  });

  it('that fails three times wrote no line: it writes three', () => {
    const failures = lines.filter(({ outcome }) => outcome !== undefined);
    expect(failures.map(({ level, msg, callId }) => [level, msg, callId])).toEqual([
      [40, 'call-webhooks: attempt 1 of 3 failed: The handler failed: Error: no', 'call-1'],
      [40, 'call-webhooks: attempt 2 of 3 failed: The handler failed: Error: no', 'call-1'],
      [50, 'call-webhooks: gave up after 3 attempts: The handler failed: Error: no', 'call-1'],
    ]);
  });

  it('there were no outcomes: there is one for each run', () => {
    expect(
      outcomes.map(({ outcome, attempt, attemptsLeft, queued, callId }) => ({
        ...{ outcome, attempt, attemptsLeft, queued, callId },
      })),
    ).toEqual([
      { ...RUN, outcome: 'handler-failed', attempt: 1, attemptsLeft: 2 },
      { ...RUN, outcome: 'handler-failed', attempt: 2, attemptsLeft: 1 },
      { ...RUN, outcome: 'dead-lettered', attempt: 3, attemptsLeft: 0 },
    ]);
  });
});

const RUN = { queued: true, callId: 'call-1' };
