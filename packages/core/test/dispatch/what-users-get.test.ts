import { expect, it } from '@jest/globals';
import { z } from 'zod';
import type { HandlerContext, QueuedDelivery, ReceiverOptions } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { bytes, Lines, NOW, SECONDS } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const SENT = { id: 'ticket-1', person: 'ada lovelace' };
const MADE = { ticket: 'TICKET-1', recipientName: 'ADA LOVELACE' };
/** What it makes differs from the body in every name and every value. */
const schema = z.object({ id: z.string(), person: z.string() }).transform(({ id, person }) => ({
  ticket: id.toUpperCase(),
  recipientName: person.toUpperCase(),
}));

/** Options with which the user's functions write down what they get. */
function recording() {
  const seen: [string, unknown][] = [];
  const contexts: object[] = [];
  const note = (name: string, given: unknown) => void seen.push([name, given]);
  const keep = ({ log: _log, signal: _signal, completeIn: _in, ...rest }: HandlerContext) =>
    void contexts.push(rest);
  const options = {
    secret: ({ tenant }) => ({ id: `of ${tenant}`, secret: secretOf(tenant) }),
    custom: {
      schema,
      key(payload: unknown) {
        note('custom.key', payload);
        return (payload as typeof MADE).ticket;
      },
      handle(payload: unknown, context: HandlerContext) {
        note('custom.handle', payload);
        keep(context);
      },
    },
    around(run, payload, context) {
      note('around', payload);
      keep(context);
      return run();
    },
  } satisfies Partial<ReceiverOptions>;
  const oneAtATime: ReceiverOptions['oneAtATime'] = (payload) => {
    note('oneAtATime', payload);
    return 'group';
  };
  return { seen, contexts, options, oneAtATime };
}

/** The parts of a context that are the same, however the event arrived. */
const SAME = {
  tenant: 'acme',
  key: 'tenant:acme:custom:TICKET-1',
  timestamp: new Date((SECONDS - 90) * 1_000),
  receivedAt: new Date(NOW),
  body: SENT,
  payload: SENT,
  rawBody: bytes(JSON.stringify(SENT)),
  call: {
    ...{ placedBy: undefined, createdAt: undefined, calledNumber: undefined },
    ...{ calledEmail: undefined, calledName: 'ADA LOVELACE', dialedAt: undefined },
    endedAt: undefined,
  },
};
const signing = { webhookId: 'w-1', timestamp: SECONDS - 90 };

it('a delivery: all functions get what the schema made, and the context has what was sent', async () => {
  const { seen, contexts, options, oneAtATime } = recording();
  const { send } = createTenantsReceiver({ ...options, oneAtATime });
  expect(await send('acme', SENT, signing)).toBe('handled');
  const names = ['custom.key', 'oneAtATime', 'around', 'custom.handle'];
  expect(seen).toEqual(names.map((name) => [name, MADE]));
  const context = { ...SAME, source: 'webhook', webhookId: 'w-1', attempt: 1 };
  const whole = { ...context, secretId: 'of acme', queued: false };
  expect(contexts).toEqual([whole, whole]);
});

it('deliver(): the same, with the attempts and the times that it is given', async () => {
  const { seen, contexts, options, oneAtATime } = recording();
  const { receiver } = createTenantsReceiver({ ...options, oneAtATime });
  const { rawBody, timestamp, tenant } = SAME;
  const letter = { rawBody, timestamp, tenant, webhookId: 'w-2', attempt: 6 };
  expect((await receiver.deliver(letter)).outcome).toBe('handled');
  expect(seen.map(([, given]) => given)).toEqual([MADE, MADE, MADE, MADE]);
  const whole = { ...SAME, source: 'redrive', webhookId: 'w-2', attempt: 7, queued: false };
  expect(contexts).toEqual([whole, whole]);
});

it('a worker: the same, with the delivery as its receiver has queued it', async () => {
  const { seen, contexts, options } = recording();
  const queued: QueuedDelivery[] = [];
  const queue = { enqueue: async (delivery: QueuedDelivery) => void queued.push(delivery) };
  const { send } = createTenantsReceiver({ ...options, queue });
  expect(await send('acme', SENT, signing)).toBe('queued');
  expect(queued).toEqual([
    {
      ...{ tenant: 'acme', webhookId: 'w-1', timestamp: SECONDS - 90, receivedAt: NOW },
      key: SAME.key,
      body: btoa(JSON.stringify(SENT)),
    },
  ]);
  seen.length = 0;
  const { custom, around } = options;
  const process = createJobProcessor({ custom, around, logger: new Lines() });
  expect(await process(queued[0]!, { attempt: 5 })).toEqual({ status: 'done' });
  expect(seen).toEqual(['custom.key', 'around', 'custom.handle'].map((name) => [name, MADE]));
  const whole = { ...SAME, source: 'queue', webhookId: 'w-1', attempt: 5, queued: true };
  expect(contexts).toEqual([whole, whole]);
});
