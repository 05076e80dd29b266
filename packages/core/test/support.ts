import { inspect } from 'node:util';
import { afterEach, expect } from '@jest/globals';
import { soon } from '@call-webhooks/contract-tests/soon';
import { createReceiver, type Outcome, type ReceiverOptions, sign } from '../src/index.ts';
import type { QueuedDelivery, WorkerOptions } from '../src/index.ts';
import type { Receiver } from '../src/receiver.ts';
import { createJobProcessor, type WorkerJob } from '../src/stores.ts';

/** All property tests run from this seed, so that a failure can be run again. */
export const SEED = 20_260_401;
/** How often a property is tried: as often as is usual, or as `RUNS` says. */
export const runs = (usual = 100): number => Number(process.env['RUNS'] ?? usual);
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
/** What the two are called: `secret-` and a fingerprint. */
export const SECRET_ID = 'secret-a81f28ca';
export const OTHER_SECRET_ID = 'secret-72424304';
/** The clock of the tests: a whole second. */
export const NOW = 1_760_000_000_000;
export const SECONDS = NOW / 1000;

export const bytes = (text: string) => new TextEncoder().encode(text);

export const STARTED = { eventName: 'call:started', callId: 'call-1', fromPhoneNumber: {} };
export const RECORDING = {
  eventName: 'call:recording-available',
  eventId: 'call-1:recording-available',
  callId: 'call-1',
  userId: 'user-1',
  workspaceId: 'space-1',
  recordingStartedAt: '2026-04-01T10:00:00.000Z',
  recordingDurationSeconds: 12,
  occurredAt: '2026-04-01T10:01:00.000Z',
  recordingUrl: 'https://api.example.test/v1/calls/call-1/recording',
};

export interface Signing {
  secret?: string;
  webhookId?: string;
  timestamp?: number;
  headerPrefix?: string;
}

/** One signed request, ready for `receiver.receive`, with the names of its headers as Node gives them. */
export async function delivery(payload: unknown, signing: Signing = {}) {
  const body = payload instanceof Uint8Array ? payload : bytes(JSON.stringify(payload));
  const signed = await sign({ secret: SECRET, timestamp: SECONDS, body, ...signing });
  const headers = Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { method: 'POST', headers, body };
}

/** What a line shows in the place of a value that it does not have. */
const HAS_NO_VALUE =
  /^call-webhooks: (?!.*Error: ).*(?<!thrown |, or )\b(?:undefined|null|NaN|Infinity|\[object \w+\])/;
const unreadable: string[] = [];
const undocumented: string[] = [];
afterEach(() => {
  expect({
    'lines that lack a value': unreadable.splice(0),
    'lines without a page of the documentation': undocumented.splice(0),
  }).toEqual({ 'lines that lack a value': [], 'lines without a page of the documentation': [] });
});

/**
 * A logger that keeps its lines, with everything that is in their fields. A test fails in which one of our lines
 * shows `undefined` or the like, or names no page of the documentation.
 */
export class Lines {
  readonly all: string[] = [];
  readonly entries: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  warn = (fields: object, message: string) => {
    this.#keep('warn', fields, message);
  };
  error = (fields: object, message: string) => {
    this.#keep('error', fields, message);
  };

  #keep(level: string, fields: object, message: string): void {
    this.entries.push({ level, fields: { ...fields }, message });
    if (HAS_NO_VALUE.test(message)) unreadable.push(message);
    const { docs } = fields as { docs?: unknown };
    if (/^call-webhooks: /.test(message) && !/^https:.*\.html/.test(String(docs)))
      undocumented.push(message);
    this.all.push(`${level} ${message} ${inspect(fields, { depth: 10, breakLength: Infinity })}`);
  }
}

export interface TestReceiver {
  receiver: Receiver;
  outcomes: Outcome[];
  lines: string[];
  /** Sends one payload under a new webhook id, and gives the outcome's code. */
  send(payload: unknown, signing?: Signing): Promise<string>;
}

/** A receiver with a clock that stands, and everything that it tells. */
export function createTestReceiver(
  options: Partial<ReceiverOptions<never, never>> = {},
): TestReceiver {
  const outcomes: Outcome[] = [];
  const logger = new Lines();
  const receiver = createReceiver({
    secret: SECRET,
    now: () => NOW,
    logger,
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...options,
  });
  return {
    receiver,
    outcomes,
    lines: logger.all,
    send(payload, signing) {
      const answered = delivery(payload, signing).then((request) => receiver.receive(request));
      const code = soon(answered, 'The receiver did not answer a delivery.').then(
        ({ outcome }) => outcome.outcome,
      );
      code.catch(() => undefined); // not every test awaits it
      return code;
    },
  };
}

/** A promise, and the means to settle it. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Runs one queued delivery. It rejects if the run failed, as the jobs of many engines do. */
export function createWorkerHandler(options: WorkerOptions<never, never>) {
  const process = createJobProcessor(options);
  return async (delivery: QueuedDelivery, job?: WorkerJob): Promise<void> => {
    const result = await process(delivery, job);
    if (result.status !== 'done') throw result.error;
  };
}
