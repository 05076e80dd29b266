import { deferred } from '@call-webhooks/contract-tests';
import { memoryStore, type OutcomeCode, type Store } from '@call-webhooks/core';
import { webHandler } from '@call-webhooks/core/web';
import { jest } from '@jest/globals';
import {
  clientError,
  handlerError,
  OTHER_SECRET,
  PERSON,
} from '@call-webhooks/contract-tests/planted';
import type { Row } from './under-test.ts';

const done = { 'call:completed': () => undefined };
const fail = () => Promise.reject(handlerError());
const failClient = () => Promise.reject(clientError());
const failing = { 'call:completed': fail };
const kept = () => undefined;
/** Issues that quote the payload. */
const schema = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: () => ({
      issues: [{ message: `Unknown person ${PERSON.recipientName}`, path: ['recipientName'] }],
    }),
  },
};
export const custom = { schema, handle: kept } as never;

const refused =
  (change: Parameters<Parameters<Row>[0]['send']>[2], options: object = {}): Row =>
  (at) =>
    at.send(at.receiver(options), at.event, change);

/** A handler that runs until it is told to end. */
function slowHandler() {
  const [started, end] = [deferred(), deferred()];
  const on = {
    'call:completed': () => {
      started.resolve();
      return end.promise;
    },
  };
  return { on, started, end };
}

/** How a receiver comes to each outcome. */
export const RECEIVER: Record<OutcomeCode, Row> = {
  handled: (at) => at.send(at.receiver({ on: done })),
  async duplicate(at) {
    const receiver = at.receiver({ on: done });
    await at.send(receiver);
    await at.reset();
    return at.send(receiver);
  },
  ignored: (at) => at.send(at.receiver()),
  queued: (at) => at.send(at.receiver({ queue: { enqueue: () => Promise.resolve() } })),
  'dead-lettered': (at) => at.send(at.receiver({ on: failing, maxAttempts: 1, deadLetter: kept })),
  async 'in-dead-letters'(at) {
    const receiver = at.receiver({ on: failing, maxAttempts: 1, deadLetter: kept });
    await at.send(receiver);
    await at.reset();
    return at.send(receiver);
  },
  'missing-header': refused({ headers: { 'X-Service-Signature': undefined } }),
  'malformed-header': refused({ headers: { 'X-Service-Webhook-Id': 'Ada, ada@lovelace.example' } }),
  'timestamp-out-of-tolerance': refused({ secondsAgo: 301 }),
  'signature-mismatch': refused({ secret: OTHER_SECRET }),
  'method-not-allowed': refused({ method: PERSON.recipientEmail }),
  async 'body-timeout'(at) {
    const { headers } = await at.request();
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(`{"recipientName":"Ada Lovelace"`));
      },
    });
    const answer = answerTo(at, new Request('http://hook', stream(headers, body)));
    await jest.advanceTimersByTimeAsync(5_000);
    return answer;
  },
  async replayed(at) {
    const receiver = at.receiver({ on: done });
    await at.send(receiver, at.event, { webhookId: 'id-1' });
    await at.reset();
    return at.send(receiver, at.event, { webhookId: 'id-1' });
  },
  'body-too-large': refused({}, { bodyLimit: 10 }),
  'unsupported-encoding': refused({ headers: { 'content-encoding': 'Ada Lovelace' } }),
  'invalid-payload': (at) => at.send(at.receiver({ custom }), PERSON),
  'handler-failed': (at) => at.send(at.receiver({ on: failing })),
  async 'body-already-parsed'(at) {
    const { headers, body } = await at.request();
    const request = new Request('http://hook', stream(headers, new Blob([body as never]).stream()));
    await request.json();
    return answerTo(at, request);
  },
  async 'in-progress'(at) {
    const { on, started } = slowHandler();
    const receiver = at.receiver({ on });
    void at.send(receiver);
    await started.promise;
    await at.reset();
    return at.send(receiver);
  },
  async deadline(at) {
    const { on, started, end } = slowHandler();
    const answer = at.send(at.receiver({ on }));
    await started.promise;
    await jest.advanceTimersByTimeAsync(20_010);
    const code = await answer;
    end.resolve(); // it is told once more, as a late outcome
    await jest.advanceTimersByTimeAsync(10);
    return code;
  },
  async overloaded(at) {
    const { on, started } = slowHandler();
    const receiver = at.receiver({ on, maxInFlight: 1 });
    void at.send(receiver);
    await started.promise;
    await at.reset();
    return at.send(receiver, { ...at.event, callId: 'call-2' });
  },
  'store-unavailable': (at) => {
    const store: Store = { ...memoryStore(), admit: failClient };
    return at.send(at.receiver({ on: done, store }));
  },
  'secret-unavailable': (at) => at.send(at.receiver({ secret: failClient })),
  async 'shutting-down'(at) {
    const receiver = at.receiver({ on: done });
    await receiver.close();
    return at.send(receiver);
  },
};

const stream = (headers: unknown, body: unknown): RequestInit =>
  ({ method: 'POST', headers, body, duplex: 'half' }) as RequestInit;

async function answerTo(at: Parameters<Row>[0], request: Request): Promise<unknown> {
  const response = await webHandler(at.receiver())(request);
  return ((await response.json()) as { outcome: unknown }).outcome;
}
