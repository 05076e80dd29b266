import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  type DeadLetter,
  type HandlerContext,
  memoryDeadLetters,
  memoryStore,
  type QueuedDelivery,
  type ReceiverRequest,
} from '../../src/index.ts';
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
    await header('x-service-webhook-id');
    await header('x-service-timestamp');
    await header('x-service-signature');
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

/** What a handler may do with the event before it fails. */
const CHANGES: [string, (event: Record<string, unknown>, context: HandlerContext) => unknown][] = [
  ['deletes a field', (event) => Reflect.deleteProperty(event, 'recipientName')],
  ['overwrites a field', (event) => (event['recipientName'] = 'x')],
  ['empties the event', (event) => emptied(event)],
  ['freezes the event', (event) => Object.freeze(event)],
  ['makes a field throw', (event) => Object.defineProperty(event, 'recipientName', { get: boom })],
  ['adds fields', (event) => Object.assign(event, Object.fromEntries(MANY))],
  ['empties the body', (_event, { payload }) => emptied(payload)],
  ['overwrites the raw body', (_event, { rawBody }) => rawBody.fill(32)],
  ['overwrites the memory of the raw body', (_event, { rawBody }) => overwritten(rawBody)],
];
const MANY = Array.from({ length: 60_000 }, (_, at): [string, number] => [
  `Field ${String(at)}`,
  at,
]);
const boom = () => {
  throw new Error('boom');
};
const emptied = (payload: object) => {
  for (const name of Object.keys(payload)) Reflect.deleteProperty(payload, name);
};
const overwritten = ({ buffer }: Uint8Array) => new Uint8Array(buffer).fill(32);

describe.each(CHANGES)('a handler that %s before it fails', (_how, change) => {
  const fail = (event: object, context: HandlerContext) => {
    change(event as Record<string, unknown>, context);
    throw new Error('no contact Wilhelmina Oyelaran at 010-4477', { cause: 'for OYELARAN' });
  };
  const schema = z.looseObject({ recipientName: z.string().transform((name) => `Dr ${name}`) });
  const body = bytes(JSON.stringify(CALL));

  it.each<[string, object]>([
    ['an event', { on: { 'call:completed': fail } }],
    ['an event without a handler', { onUnhandled: fail }],
    ['a custom payload', { custom: { schema, handle: fail } }],
    [
      'an event in a transaction of layers',
      { around: [(run: () => unknown) => run()], on: { 'call:completed': fail } },
    ],
  ])('changes nothing of what is removed, of %s', async (_what, options) => {
    const deadLetters = memoryDeadLetters();
    const store = memoryStore();
    const payload = 'custom' in options ? { ...CALL, eventName: undefined } : CALL;
    const all = { ...options, store, maxAttempts: 1, deadLetter: deadLetters };
    const { receiver, lines, outcomes } = createTestReceiver(all);
    await receiver.receive(await delivery(payload));
    await receiver.close();
    const { letters } = await deadLetters.list();
    const { rows = [] } = (await store.log?.read()) ?? {};
    expect(letters).toHaveLength(1);
    const [letter] = letters;
    const everything = [
      ...lines,
      inspect([outcomes, letter, rows], { depth: 9, showHidden: true }),
    ];
    expect(everything.join('\n')).not.toMatch(PLANTED);
    expect(everything.join('\n')).toContain('[redacted]');
    // And the letter has the bytes that were delivered.
    const whole = await deadLetters.get(letter?.id ?? '');
    expect(JSON.parse(Buffer.from(whole?.rawBody ?? []).toString())).toEqual(
      JSON.parse(JSON.stringify(payload)),
    );
  });

  it('gives the function of redact what was delivered', async () => {
    const seen: unknown[] = [];
    const redact = (_text: string, event: unknown) => {
      seen.push(JSON.parse(JSON.stringify(event)));
      return 'redacted';
    };
    const { receiver } = createTestReceiver({ redact, on: { 'call:completed': fail } });
    await receiver.receive(await delivery(CALL));
    expect(seen.length).toBeGreaterThan(0);
    for (const event of seen) expect(event).toEqual(CALL);
  });

  it('changes nothing of what a worker tells, or keeps', async () => {
    const log = new Lines();
    const kept: DeadLetter[] = [];
    const work = createWorkerHandler({
      on: { 'call:completed': fail },
      deadLetter: (letter) => void kept.push(letter),
      maxRuns: 1,
      logger: log,
    });
    const queued = { webhookId: 'w', timestamp: 1, receivedAt: NOW };
    const error: unknown = await work({ ...queued, body: toBase64(body) }).catch((e: unknown) => e);
    expect(log.all.join() + inspect(error, { depth: 10 })).not.toMatch(PLANTED);
    expect(kept[0]?.errorText).not.toMatch(PLANTED);
    expect(kept[0]?.errorStack).toMatch(/^at /);
    expect(kept[0]?.errorStack).not.toMatch(PLANTED);
    expect(Buffer.from(kept[0]?.rawBody ?? []).toString()).toBe(JSON.stringify(CALL));
  });
});

const toBase64 = (body: Uint8Array) => Buffer.from(body).toString('base64');

describe('bytes that somebody else changes after they were verified', () => {
  const overwrite = (body: Uint8Array) =>
    body.set(bytes('{"eventName":"call:completed","callId":"forged"'));

  it.each<[string, (body: Uint8Array) => ReceiverRequest['body']]>([
    ['the bytes of the request', (body) => body],
    ['the bytes of a reader', (body) => () => Promise.resolve(body)],
  ])('%s are not what is queued, handled or kept', async (_what, bodyOf) => {
    const request = await delivery(CALL);
    const original = new Uint8Array(request.body);
    const memory = memoryStore();
    const store = {
      ...memory,
      admit: (claim: Parameters<typeof memory.admit>[0]) => {
        overwrite(request.body);
        return memory.admit(claim);
      },
    };
    const queued: QueuedDelivery[] = [];
    const enqueue = async (job: QueuedDelivery) => void queued.push(job);
    const { receiver } = createTestReceiver({ store, queue: { enqueue } });
    const answer = await receiver.receive({ ...request, body: bodyOf(request.body) });
    expect(answer.status).toBe(202);
    expect(queued[0]).toMatchObject({ callId: 'call-1', body: toBase64(original) });
  });

  it('what a caller of deliver() changes is not what is handled', async () => {
    const seen: unknown[] = [];
    const around = async (
      run: () => Promise<unknown>,
      _event: unknown,
      context: HandlerContext,
    ) => {
      overwrite(input);
      seen.push(toBase64(context.rawBody));
      await run();
    };
    const { receiver } = createTestReceiver({ around, on: { 'call:completed': () => undefined } });
    const input = bytes(JSON.stringify(CALL));
    const original = toBase64(input);
    await receiver.deliver(input);
    expect(seen).toEqual([original]);
  });

  it('a sink that overwrites a letter changes neither its retry nor what is removed', async () => {
    const kept: string[] = [];
    const deadLetter = (letter: DeadLetter) => {
      kept.push(toBase64(letter.rawBody));
      letter.rawBody.fill(0);
      throw new Error('no room for Wilhelmina Oyelaran');
    };
    const fail = () => {
      throw new Error('no');
    };
    const on = { 'call:completed': fail };
    const { receiver, lines, outcomes } = createTestReceiver({ on, deadLetter, maxAttempts: 1 });
    await receiver.receive(await delivery(CALL));
    await receiver.receive(await delivery(CALL));
    expect(kept).toEqual([toBase64(bytes(JSON.stringify(CALL))), kept[0]]);
    expect(lines.join() + inspect(outcomes, { depth: 9 })).not.toMatch(PLANTED);
  });

  it('a letter that is changed while it is put is kept as it was', async () => {
    const deadLetters = memoryDeadLetters();
    const letter: DeadLetter = {
      ...{ reason: 'handler-failed', rawBody: bytes('{"a":1}'), webhookId: 'w', attempt: 1 },
      ...{ timestamp: new Date(NOW), failedAt: new Date(NOW), source: 'webhook' },
      ...{ error: undefined, errorText: 'no' },
    };
    const put = deadLetters.put(letter);
    letter.rawBody.fill(0);
    await put;
    const [listed] = (await deadLetters.list()).letters;
    const first = await deadLetters.get(listed?.id ?? '');
    first?.rawBody.fill(0);
    const again = await deadLetters.get(listed?.id ?? '');
    expect(Buffer.from(again?.rawBody ?? []).toString()).toBe('{"a":1}');
  });
});
