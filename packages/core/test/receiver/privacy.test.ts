import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { memoryStore } from '../../src/index.ts';
import {
  createTestReceiver,
  bytes,
  delivery,
  Lines,
  NOW,
  OTHER_SECRET,
  SECRET,
  type Signing,
  createWorkerHandler,
} from '../support.ts';

const PERSON = {
  recipientName: 'Wilhelmina Oyelaran',
  recipientEmail: 'w.oyelaran@example.com',
  toPhoneNumber: '+1 (555) 010-4477',
};
const CALL = { eventName: 'call:completed', callId: 'call-1', ...PERSON };
const PLANTED = /Wilhelmina|Oyelaran|010-?4477|5550104477|hunter2|MfKQ9r8GKYqr|C2FVsBQIhrsc/i;

/** Errors as they are thrown by handlers and clients. */
const ERRORS: [string, () => unknown][] = [
  ['a first name', () => new Error('no contact Wilhelmina')],
  ['a last name', () => new Error('OYELARAN not found')],
  ['a whole body', () => new Error(`rejected: ${JSON.stringify(CALL)}`)],
  ['a number, written otherwise', () => new Error('can not dial 15550104477')],
  ['an address in a URL', () => new Error('GET https://crm/c?q=w.oyelaran%40example.com: 500')],
  ['a name in a URL', () => new Error('GET https://crm/c?q=Wilhelmina%20Oyelaran: 500')],
  ['a URL with a password', () => new Error('connect postgres://app:hunter2@db/crm')],
  ['a secret', () => new Error(`wrong key ${SECRET}`)],
  ['a cause', () => new Error('failed', { cause: new Error('no contact Wilhelmina') })],
  ['many errors', () => new AggregateError([new Error('Wilhelmina')], 'no Oyelaran')],
  ['fields', () => Object.assign(new Error('failed'), { contact: PERSON })],
  ['a name of its own', () => Object.assign(new Error('x'), { name: 'Wilhelmina' })],
  ['a text', () => 'no contact Wilhelmina'],
  ['an object', () => ({ message: 'no contact Wilhelmina', ...PERSON })],
  ['lines', () => new Error('no\n    at Wilhelmina Oyelaran\n    at Wilhelmina (file:1:2)')],
  ['a very long text', () => new Error('x'.repeat(100_000) + JSON.stringify(CALL))],
];

/** Sends one body, and gives everything that was told: log lines, the outcome and the answer. */
async function told(options: object, body: unknown): Promise<string> {
  const { receiver, lines, outcomes } = createTestReceiver(options);
  const answer = await receiver.receive(await delivery(body));
  expect(outcomes).toHaveLength(1);
  expect(lines).not.toEqual([]);
  const all = inspect(outcomes, { depth: 5, showHidden: true });
  return [...lines, all, JSON.stringify(answer)].join('\n');
}

describe.each(ERRORS)('an error that holds %s', (name, make) => {
  const fail = () => {
    throw make();
  };
  const reject = () => Promise.reject(make());
  const schema = z.object({ recipientName: z.string() });
  const body = bytes(JSON.stringify(CALL));

  const invalidEvent = {
    events: { 'call:new': z.object({ seconds: z.number() }) },
    on: { 'call:new': fail },
    deadLetter: reject,
  };
  const places: [string, object, unknown][] = [
    ['a handler', { on: { 'call:completed': fail } }, CALL],
    ['onUnhandled', { onUnhandled: fail }, { ...CALL, eventName: 'call:new' }],
    ['a custom payload’s handler', { custom: { schema: z.any(), handle: reject } }, PERSON],
    ['a custom payload’s stripping handler', { custom: { schema, handle: reject } }, PERSON],
    ['a custom payload’s key', { custom: { schema, key: fail, handle: fail } }, PERSON],
    ['a schema', { custom: { schema: schema.transform(fail), handle: fail } }, PERSON],
    ['a sink', { on: { 'call:completed': fail }, maxAttempts: 1, deadLetter: reject }, CALL],
    ['a sink, of a body that is no JSON', { deadLetter: fail }, body.subarray(1)],
    ['a sink, of a body of the wrong shape', invalidEvent, { ...CALL, eventName: 'call:new' }],
    ['a queue', { queue: { enqueue: reject } }, CALL],
  ];
  // A handler throws all of them; of the other places each meets every fourth, by turns.
  const turn = ERRORS.findIndex(([other]) => other === name);
  const met = places.filter((_place, index) => index === 0 || (index + turn) % 4 === 0);

  it.each(met)(
    'never reaches a log line or an outcome from %s',
    async (_where, options, payload) => {
      expect(await told(options, payload)).not.toMatch(PLANTED);
    },
  );

  it('never reaches the error of a worker', async () => {
    const log = new Lines();
    const work = createWorkerHandler({
      on: { 'call:completed': fail },
      deadLetter: reject,
      maxRuns: 1,
      logger: log,
    });
    const queued = { webhookId: 'w', timestamp: 1, receivedAt: NOW };
    const job = { ...queued, body: Buffer.from(body).toString('base64') };
    const error: unknown = await work(job).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Error);
    expect(log.all.join() + inspect(error, { depth: 10 })).not.toMatch(PLANTED);
  });
});

describe('an error of a client', () => {
  const secretive = new Error(`redis://app:hunter2@cache refused ${SECRET} for +15550104477`);

  it.each<[string, object]>([
    ['a store', { store: { ...memoryStore(), admit: () => Promise.reject(secretive) } }],
    ['a secret provider', { secret: () => Promise.reject(secretive) }],
  ])('never brings its password into a log line or an outcome from %s', async (_name, options) => {
    const all = await told(options, CALL);
    expect(all).not.toMatch(PLANTED);
    expect(all).toContain('cache refused');
  });
});

describe('what strangers can send', () => {
  it('never reaches a log line or an outcome', async () => {
    const { receiver, lines, outcomes } = createTestReceiver({
      on: {
        'call:completed': () => undefined,
        'call:recording-available': () => undefined,
      },
    });
    const planted = 'Wilhelmina w.oyelaran@example.com 5550104477';
    const send = async (body: unknown, signing: Signing = {}, change: object = {}) =>
      receiver.receive({ ...(await delivery(body, signing)), ...change });
    const header = async (name: string) => {
      const { headers } = await delivery(CALL);
      await send(CALL, {}, { headers: { ...headers, [name]: planted } });
    };
    await send(CALL, { secret: OTHER_SECRET });
    await header('X-Service-Webhook-Id');
    await header('X-Service-Timestamp');
    await header('X-Service-Signature');
    await header('Content-Encoding');
    await send(CALL, {}, { method: planted });
    await send(CALL, { secret: OTHER_SECRET, webhookId: 'Wilhelmina' });
    await send(CALL, {}, { body: () => Promise.reject(new Error('w.oyelaran@example.com')) });
    await send(bytes(`"${planted}`));
    await send({ eventName: 'call:recording-available', callId: '', userId: [planted] });
    expect(outcomes).toHaveLength(10);
    for (const outcome of outcomes) expect(outcome.status).toBeGreaterThanOrEqual(400);
    expect(lines.join() + inspect(outcomes, { depth: 10 })).not.toMatch(PLANTED);
  });

  it('is not in the outcome of a successful delivery', async () => {
    const { receiver, outcomes } = createTestReceiver({
      on: { 'call:completed': () => undefined },
    });
    const answer = await receiver.receive(await delivery(CALL));
    expect(outcomes[0]?.outcome).toBe('handled');
    expect(inspect([outcomes, answer], { depth: 10 })).not.toMatch(PLANTED);
  });
});
