import {
  createReceiver,
  sign,
  type QueuedDelivery,
  type Receiver,
  type ReceiverOptions,
  type ReceiverRequest,
  type Redact,
  type WorkerOptions,
} from '@call-webhooks/core';
import { createJobProcessor, type WorkerJob } from '@call-webhooks/core/stores';
import { HEADERS, PERSON, SECRET } from '@call-webhooks/contract-tests/planted';
import { listen } from './told.ts';

export const NOW = 1_760_000_000_000;

/** How a request differs from a good one. */
export interface Change {
  method?: string;
  headers?: Record<string, string | undefined>;
  secret?: string;
  webhookId?: string;
  secondsAgo?: number;
}

/** Whether the ids of deliveries and calls are ordinary, or a phone number and an email address. */
export type Ids = 'ordinary' | 'planted';

/** What a row of the table needs to produce its outcome. */
export interface UnderTest {
  /** The body of each delivery, unless another one is sent. */
  readonly event: object;
  receiver(options?: Partial<ReceiverOptions<never, never>>): Receiver;
  request(payload?: object | string, change?: Change): Promise<ReceiverRequest>;
  /** Resolves with the code of the outcome. */
  send(receiver: Receiver, payload?: object | string, change?: Change): Promise<string>;
  /** Lets a receiver enqueue the payload, and a worker run it. */
  work(
    options: WorkerOptions<never, never>,
    payload?: object | string,
    job?: WorkerJob,
  ): Promise<unknown>;
  /** Leaves out of the table what was told so far. */
  reset(): Promise<void>;
}

/** A row of the table: makes a delivery end with one outcome. */
export type Row = (at: UnderTest) => Promise<unknown>;

/** What a row tells. */
export async function toldBy(row: Row, ids: Ids, redact?: Redact) {
  const told = await listen();
  const options = { ...told.hooks, ...(redact && { redact }) };
  const callId = ids === 'ordinary' ? 'call-1' : PERSON.recipientEmail;
  const endedAt = '2026-01-01T12:00:00.000Z';
  const event = { eventName: 'call:completed', callId, endedAt, ...PERSON };
  let requests = 0;
  const newId = () => `${ids === 'ordinary' ? 'id-' : '+49171555012'}${String(++requests)}`;

  async function request(payload: object | string = event, change: Change = {}) {
    const {
      method = 'POST',
      headers,
      secret = SECRET,
      webhookId = newId(),
      secondsAgo = 0,
    } = change;
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const body = new TextEncoder().encode(text);
    const timestamp = NOW / 1_000 - secondsAgo;
    const signed = await sign({ secret, body, webhookId, timestamp });
    return { method, headers: { ...HEADERS, ...signed, ...headers }, body };
  }

  const at: UnderTest = {
    event,
    request,
    reset: told.reset,
    receiver: (more) => createReceiver({ secret: SECRET, now: () => NOW, ...options, ...more }),
    send: async (receiver, payload, change) =>
      (await receiver.receive(await request(payload, change))).outcome.outcome,
    async work(more, payload, job) {
      const jobs: QueuedDelivery[] = [];
      const enqueue = (delivery: QueuedDelivery) => {
        jobs.push(JSON.parse(JSON.stringify(delivery)) as QueuedDelivery);
        return Promise.resolve();
      };
      await at.send(at.receiver({ queue: { enqueue } }), payload);
      await told.reset();
      await createJobProcessor({ ...options, ...more })(jobs[0] as QueuedDelivery, job);
      return told.lastOutcome();
    },
  };
  try {
    const code = await row(at);
    const signals = await told.signals();
    return { code, signals, errors: [...told.errors], ...(await told.everything()) };
  } finally {
    await told.close();
  }
}
