import { describe, expect, it, jest } from '@jest/globals';
import { toBase64 } from '#platform';
import { Transactions } from '../../src/store/transactions.ts';
import {
  type DeadLetter,
  type HandlerContext,
  memoryStore,
  type QueuedDelivery,
  type ReceiverOptions,
  type SecretProvider,
  WebhookError,
} from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import {
  bytes,
  createTestReceiver,
  deferred,
  Lines,
  NOW,
  RECORDING,
  SECONDS,
  STARTED,
} from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';
import { thrownBy, transactionalReceiver } from '../transactional-store.ts';

const completed = (callId: string) => ({ eventName: 'call:completed', callId });

const NAMED = { ...RECORDING, calledName: 'Ada Lovelace' };

describe('groups of oneAtATime', () => {
  /** The group that a payload is claimed with, and the key. */
  async function claimed(payload: unknown, options: object) {
    const inner = memoryStore();
    const admit = jest.fn(inner.admit);
    const handle = jest.fn<(payload: unknown, context: HandlerContext) => void>();
    const on = { 'call:started': handle, 'call:recording-available': handle };
    const test = createTestReceiver({ store: { ...inner, admit }, on, ...options });
    const code = await test.send(payload, { webhookId: 'w-1' });
    const [claim] = admit.mock.calls[0] ?? [];
    const { key } = handle.mock.calls[0]?.[1] ?? {};
    return { code, group: claim?.group, claimedKey: claim?.key, key, ...test };
  }
  const byUser = { oneAtATime: (call: { userId?: unknown }) => call.userId as string };

  it('are made of the callId, or by a function of what the handler gets', async () => {
    expect((await claimed(RECORDING, { oneAtATime: true })).group).toBe('call-1');
    expect((await claimed(RECORDING, byUser)).group).toBe('user-1');
    const custom = { handle: () => undefined };
    const ofCustom = await claimed({ userId: 'user-2' }, { custom, ...byUser });
    expect(ofCustom).toMatchObject({ code: 'handled', group: 'user-2' });
    const onUnhandled = () => undefined;
    const unhandled = await claimed(completed('c'), { oneAtATime: true, onUnhandled });
    expect(unhandled).toMatchObject({ code: 'handled', group: 'c' });
  });

  it('may be as long as a key', async () => {
    const longest = 'x'.repeat(4_000);
    expect((await claimed(STARTED, { oneAtATime: () => longest })).group).toBe(longest);
  });

  it('are left out for an event of no group, or without a handler', async () => {
    for (const callId of [undefined, null, '', 7, 'x'.repeat(4_001)]) {
      const { code, group } = await claimed({ ...RECORDING, callId }, { oneAtATime: true });
      expect([code, group]).toEqual(['handled', undefined]);
    }
    for (const none of [undefined, null])
      expect(await claimed(STARTED, { oneAtATime: () => none })).toMatchObject({ code: 'handled' });
    const throwing = { oneAtATime: () => JSON.parse('') as string };
    expect(await claimed(completed('c'), throwing)).toMatchObject({ code: 'ignored' });
  });

  it('are leased with the webhook id for an event without a key, whose handler gets no key', async () => {
    const keyless = { eventName: 'call:started', userId: 'user-1' };
    const { code, group, claimedKey, key } = await claimed(keyless, byUser);
    expect([code, group, claimedKey, key]).toEqual([
      ...['handled', 'user-1', 'webhook-id:w-1'],
      undefined,
    ]);
  });

  it.each<[why: string, options: object, payload: object | Uint8Array, message: string]>([
    [
      'a schema refuses it',
      {
        custom: {
          schema: {
            '~standard': {
              ...{ version: 1, vendor: 'test' },
              validate: () => ({ issues: [{ message: 'no', path: ['userId'] }] }),
            },
          },
          handle: () => undefined,
        },
      },
      { userId: 7 },
      'The payload does not match its schema: userId: invalid.',
    ],
    [
      'it has no id',
      {},
      { eventName: 'call:recording-available' },
      'The event has neither an eventId nor a callId.',
    ],
    ['it is no JSON', {}, bytes('{"userId":'), 'The body is not valid JSON.'],
  ])(
    'are not asked for of a payload that is invalid: %s',
    async (_why, options, payload, message) => {
      const oneAtATime = jest.fn(() => 'group');
      const deadLetter = jest.fn<(letter: DeadLetter) => void>();
      const { code, group, outcomes } = await claimed(payload, {
        ...options,
        oneAtATime,
        deadLetter,
      });
      expect([code, group]).toEqual(['dead-lettered', undefined]);
      expect(oneAtATime).not.toHaveBeenCalled();
      expect(outcomes[0]?.error?.message).toBe(message);
      expect(deadLetter.mock.calls).toMatchObject([[{ reason: 'invalid-payload' }]]);
    },
  );

  it('are refused where a function throws or gives no text; the payload stays out of the error', async () => {
    const functions = [
      (call: { calledName?: unknown }) => {
        throw new Error(`no group for ${String(call.calledName)}`);
      },
      () => '',
      () => 7,
      () => 'x'.repeat(4_001),
      () => Promise.resolve('user-1'),
    ];
    for (const oneAtATime of functions) {
      const { code, outcomes, lines } = await claimed(NAMED, { oneAtATime });
      expect(code).toBe('invalid-payload');
      expect(outcomes[0]?.error?.message).toContain('oneAtATime');
      expect(JSON.stringify([outcomes[0]?.error?.message, lines])).not.toContain('Lovelace');
      const deadLetter = jest.fn();
      const kept = await claimed(RECORDING, { oneAtATime, deadLetter });
      expect(kept.code).toBe('dead-lettered');
      expect(deadLetter).toHaveBeenCalledTimes(1);
    }
  });

  it('take true or a function, and no queue', () => {
    const queue = { enqueue: () => Promise.resolve() };
    const create = (options: object) => () => createTestReceiver(options);
    for (const oneAtATime of [false, 'callId', 1, null])
      expect(create({ oneAtATime })).toThrow('oneAtATime: expected true or a function');
    expect(create({ oneAtATime: true, queue })).toThrow('pg_advisory_xact_lock');
    expect(create({ queue })).not.toThrow();
  });
});

const DOCS = /\/exactly-once\.html#your-own-database$/;
const failing = async ({ completeIn }: HandlerContext, commit?: () => Promise<void>) => {
  await completeIn({ marks: [] });
  await commit?.();
  throw new Error('the mail server is down');
};

describe('an error after the commit of a handler', () => {
  it('is logged as one that nobody retries, without onError as well', async () => {
    const logger = new Lines();
    const { send } = transactionalReceiver(
      async ({ completeIn }, tx) => {
        await completeIn(tx);
        await tx.commit();
        throw new Error('the mail server is down');
      },
      { logger },
    );
    expect(await send(STARTED)).toBe('handled');
    expect(logger.entries).toMatchObject([
      {
        level: 'warn',
        fields: {
          ...{ retriedBy: 'nobody', eventName: 'call:started', attempt: 1 },
          docs: expect.stringMatching(DOCS) as unknown,
        },
        message: expect.stringContaining('so the event is done: Error: the mail server') as unknown,
      },
    ]);
  });

  it('is reported as one of a job in a worker', async () => {
    const queued: unknown[] = [];
    const process = createJobProcessor({
      logger: new Lines(),
      on: { 'call:started': (_event, context) => failing(context) },
      onError: (_error, info) => void queued.push([info.code, info.queued, info.lastAttempt]),
    });
    const delivery = {
      ...{ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW },
      body: toBase64(bytes(JSON.stringify(STARTED))),
    };
    const transaction = { completeIn: () => true, isCompleted: () => Promise.resolve(true) };
    expect(await process(delivery, { transaction })).toEqual({ status: 'done' });
    expect(queued).toEqual([['handled', true, true]]);
  });
});

describe('the transactions of a run', () => {
  it('may be done while one is being marked, and not after a lost lease', async () => {
    const answer = deferred<boolean>();
    const transactions = new Transactions({ completeIn: () => answer.promise });
    expect(transactions.mayBeDone).toBe(false);
    const running = transactions.completeIn({});
    expect(transactions.mayBeDone).toBe(true);
    answer.resolve(false);
    await expect(running).rejects.toMatchObject({ code: 'in-progress' });
    expect([transactions.mayBeDone, transactions.leaseLost]).toEqual([false, true]);
  });

  it('may be done after a statement that failed, since it may have been applied', async () => {
    const transactions = new Transactions({
      completeIn: () => Promise.reject(new Error('the connection was lost')),
    });
    await expect(transactions.completeIn({})).rejects.toThrow('the connection was lost');
    expect(transactions.mayBeDone).toBe(true);
  });

  it('throw at once what a synchronous client answers, as its transactions wait for no promise', () => {
    const transactions = new Transactions({ completeIn: () => false });
    expect(() => transactions.completeIn({})).toThrow('the lease was lost');
  });

  it('link each refusal to its documentation', async () => {
    const lost = await thrownBy(() => new Transactions({ completeIn: () => false }).completeIn({}));
    const unreachable = await thrownBy(() => new Transactions(undefined).completeIn({}));
    const ended = new Transactions({ completeIn: () => true });
    ended.end();
    const late = await thrownBy(() => ended.completeIn({}));
    expect([lost, late, unreachable].map(({ code }) => code)).toEqual([
      ...['in-progress', 'handler-failed', 'invalid-options'],
    ]);
    for (const { message } of [lost, late]) expect(message).toMatch(DOCS);
    expect(unreachable.message).toMatch(/\/exactly-once\.html#workers$/);
  });
});

const secret: SecretProvider = ({ tenant }) => secretOf(tenant);

/** A queue that keeps what it gets. */
function keepingQueue() {
  const queued: QueuedDelivery[] = [];
  const enqueue = (delivery: QueuedDelivery) => Promise.resolve(void queued.push(delivery));
  return { queued, queue: { enqueue } };
}

/** What a receiver reports of a delivery that its queue refuses. */
async function refused(payload: unknown, error: Error) {
  const sources: string[] = [];
  const { send, outcomes } = createTestReceiver({
    queue: { enqueue: () => Promise.reject(error) },
    onError: (_thrown, { source }) => void sources.push(source),
  });
  const code = await send(payload);
  return { code, sources, message: outcomes[0]?.error?.message };
}

describe('a delivery for the queue', () => {
  it('names its tenant', async () => {
    const { queued, queue } = keepingQueue();
    const { send } = createTenantsReceiver({ secret, queue });
    expect(await send('acme', STARTED)).toBe('queued');
    expect(queued).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
  });

  it('has no fields that its payload does not have', async () => {
    const { queued, queue } = keepingQueue();
    const { send } = createTestReceiver({ queue });
    expect(await send({ any: 'thing' })).toBe('queued');
    const [delivery = {}] = queued;
    expect(Object.keys(delivery)).toEqual(['webhookId', 'timestamp', 'receivedAt', 'body']);
  });

  it('that the queue refuses is reported with the cause, without personal data', async () => {
    const event = { ...STARTED, recipientName: 'Ada Lovelace' };
    expect(await refused(event, new Error('no room for Ada Lovelace'))).toEqual({
      code: 'store-unavailable',
      sources: ['queue'],
      message: 'The queue did not accept the delivery: Error: no room for [redacted]',
    });
  });
});

/** The dead letter of a payload that fails at once, and what was reported. */
async function letterOf(payload: unknown, options: Partial<ReceiverOptions<never, never>> = {}) {
  const letters: DeadLetter[] = [];
  const deadLetter = (letter: DeadLetter) => void letters.push(letter);
  const { send, outcomes } = createTestReceiver({ deadLetter, maxAttempts: 1, ...options });
  const code = await send(payload);
  return { code, letter: letters[0], error: outcomes[0]?.error };
}

/** What is reported of a payload that the receiver refuses and the sink does not take. */
async function sinkFailure(payload: unknown, sinkError: Error) {
  const errors: { source: string; error: unknown }[] = [];
  const { send, outcomes } = createTestReceiver({
    custom: { key: () => 7 as never, handle: () => undefined },
    deadLetter: () => Promise.reject(sinkError),
    onError: (error, { source }) => void errors.push({ source, error }),
  });
  expect(await send(payload)).toBe('invalid-payload');
  return { errors, message: outcomes[0]?.error?.message };
}

const BASE = [
  ...['reason', 'rawBody', 'webhookId', 'timestamp'],
  ...['attempt', 'failedAt', 'source', 'error', 'errorText'],
];

describe('a dead letter', () => {
  it('has no fields that its delivery does not have', async () => {
    const { code, letter = {} } = await letterOf(bytes('{'));
    expect(code).toBe('dead-lettered');
    expect(Object.keys(letter).sort()).toEqual([...BASE].sort());
  });

  it('has the message of the outcome if the payload is invalid', async () => {
    const { letter, error } = await letterOf(bytes('{'));
    expect(letter?.errorText).toBe(error?.message);
  });

  it('quotes nothing of the payload, whichever error a handler throws', async () => {
    const event = { ...STARTED, recipientName: 'Ada Lovelace' };
    const on = {
      'call:started': () => {
        throw new WebhookError('handler-failed', 'no contact for Ada Lovelace');
      },
    };
    const { letter } = await letterOf(event, { on });
    expect(letter?.errorText).toContain('no contact for [redacted]');
  });
});

describe('a sink that fails for an invalid payload', () => {
  const event = { recipientName: 'Ada Lovelace' };
  const invalid =
    'custom.key must return a string of 1 to 4000 characters, or undefined, and not a promise.';

  it('is reported beside the first failure, without personal data', async () => {
    const sinkError = new Error('no row for Ada Lovelace');
    const { errors, message } = await sinkFailure(event, sinkError);
    expect(message).toBe(`${invalid} The deadLetter sink failed: Error: no row for [redacted]`);
    expect(errors.at(-1)).toEqual({ source: 'dead-letter', error: sinkError });
  });

  it('is quoted nowhere if the body cannot be parsed', async () => {
    const { errors, message } = await sinkFailure(bytes('{"name": Ada'), new Error('{"name": Ada'));
    expect(message).toContain('its error may quote the body and is withheld');
    expect(errors.at(-1)?.source).toBe('dead-letter');
    expect(String(errors.at(-1)?.error)).toContain('Ada'); // `onError` gets it as it is
  });
});
