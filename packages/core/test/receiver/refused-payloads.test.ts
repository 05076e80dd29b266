import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  type DeadLetter,
  memoryDeadLetters,
  memoryStore,
  type QueuedDelivery,
  type ReceiverOptions,
} from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { bytes, createTestReceiver, Lines, NOW, RECORDING, SECONDS, STARTED } from '../support.ts';

type Options = Partial<ReceiverOptions<never, never>>;
const MOVED = { eventName: 'crm:moved', eventId: 'e-1', callId: 'call-1', seconds: 'three' };
const events = { 'crm:moved': z.looseObject({ seconds: z.number() }) };
const on = { 'crm:moved': () => undefined };
const KEY = 'event:crm%3Amoved:e-1';

describe('an event that its schema refuses', () => {
  it('is one dead letter, however often it is delivered, and is found by its call', async () => {
    const deadLetter = memoryDeadLetters();
    const { send, outcomes } = createTestReceiver({ on, events, deadLetter } as never);
    expect(await send(MOVED)).toBe('dead-lettered');
    expect(await send(MOVED)).toBe('in-dead-letters');
    expect(await send(MOVED)).toBe('in-dead-letters');
    const { letters } = await deadLetter.list();
    expect(letters).toMatchObject([
      { reason: 'invalid-payload', eventName: 'crm:moved', callId: 'call-1', key: KEY },
    ]);
    expect(outcomes).toMatchObject([{ callId: 'call-1', key: KEY }, { key: KEY }, { key: KEY }]);
  });

  it('is redriven once its schema is mended, and stays one letter until then', async () => {
    const deadLetter = memoryDeadLetters();
    const store = memoryStore();
    const refusing = createTestReceiver({ on, events, deadLetter, store } as never);
    await refusing.send(MOVED);
    const id = (await deadLetter.list()).letters[0]!.id;
    const again = await refusing.receiver.deliver((await deadLetter.get(id))!);
    expect(again.outcome).toBe('dead-lettered');
    expect(await deadLetter.count()).toBe(1);
    const mended = { 'crm:moved': z.looseObject({ seconds: z.string() }) };
    const accepting = createTestReceiver({ on, events: mended, deadLetter, store } as never);
    expect((await accepting.receiver.deliver((await deadLetter.get(id))!)).outcome).toBe('handled');
    expect(await accepting.send(MOVED)).toBe('duplicate');
  });

  it('is a duplicate if it was handled before its schema changed', async () => {
    const store = memoryStore();
    const before = createTestReceiver({
      on,
      events: { 'crm:moved': z.looseObject({}) },
      store,
    } as never);
    expect(await before.send(MOVED)).toBe('handled');
    const deadLetter = jest.fn();
    const after = createTestReceiver({ on, events, store, deadLetter } as never);
    expect(await after.send(MOVED)).toBe('duplicate');
    expect(deadLetter).not.toHaveBeenCalled();
  });

  it('is known without dead letters as well, and is refused each time', async () => {
    const { send, outcomes } = createTestReceiver({ on, events } as never);
    for (let times = 0; times < 2; times++) expect(await send(MOVED)).toBe('invalid-payload');
    expect(outcomes[1]).toMatchObject({ eventName: 'crm:moved', callId: 'call-1', key: KEY });
  });

  it('is free again if the sink fails, and both failures are told', async () => {
    const deadLetter = jest.fn<(letter: DeadLetter) => Promise<void>>();
    deadLetter.mockRejectedValueOnce(new Error('disk full'));
    const onError = jest.fn();
    const { send, outcomes } = createTestReceiver({ on, events, deadLetter, onError } as never);
    expect(await send(MOVED)).toBe('invalid-payload');
    expect(outcomes[0]?.error?.message).toMatch(
      /^The payload does not match its schema: .*\. The deadLetter sink failed: Error: disk full$/,
    );
    expect(outcomes[0]?.error?.issues).toHaveLength(1);
    expect(onError.mock.calls.map(([, info]) => (info as { source: string }).source)).toEqual([
      'schema',
      'dead-letter',
    ]);
    expect(await send(MOVED)).toBe('dead-lettered');
    expect(deadLetter.mock.calls[1]?.[0]).toMatchObject({ key: KEY, attempt: 2 });
  });
});

describe('other payloads that can never be handled', () => {
  const letterOf = async (payload: unknown, options: Options) => {
    const deadLetter = jest.fn<(letter: DeadLetter) => void>();
    const { send } = createTestReceiver({ ...options, deadLetter });
    const codes = [await send(payload), await send(payload)];
    return { codes, letters: deadLetter.mock.calls.map(([letter]) => letter) };
  };

  it('have the key of their event if oneAtATime fails', async () => {
    const oneAtATime = () => JSON.parse('') as string;
    const options = { oneAtATime, on: { 'call:started': () => undefined } };
    const { codes, letters } = await letterOf(STARTED, options);
    expect(codes).toEqual(['dead-lettered', 'in-dead-letters']);
    expect(letters).toMatchObject([{ callId: 'call-1', key: 'call-1:call:started' }]);
  });

  it('have what there is of a recording, or of what is no JSON', async () => {
    const nothing = { eventName: RECORDING.eventName };
    const recording = await letterOf(nothing, { on: { [RECORDING.eventName]: () => undefined } });
    expect(recording.codes).toEqual(['dead-lettered', 'dead-lettered']);
    expect(recording.letters[0]).toMatchObject({ eventName: RECORDING.eventName });
    const broken = await letterOf(bytes('{'), {});
    expect(broken.letters).toHaveLength(2);
    expect(broken.letters[0]).not.toHaveProperty('key');
  });

  const schema = z.object({ id: z.string().min(3), customer: z.object({ name: z.string() }) });
  const handle = () => undefined;
  const GOOD = { id: 'lead-1', customer: { name: 3 } };
  it.each<[string, unknown, (payload: { id: string; customer: { name: string } }) => string]>([
    ['one field', GOOD, ({ id }) => id],
    ['a template', GOOD, (payload) => `crm-${payload.id}`],
  ])(
    'have the key of a custom payload that is made of right fields: %s',
    async (_what, sent, key) => {
      const { codes, letters } = await letterOf(sent, {
        custom: { schema, key, handle },
      } as never);
      expect(codes).toEqual(['dead-lettered', 'in-dead-letters']);
      expect(letters[0]!.key).toBe(`custom:${key(GOOD as never)}`);
    },
  );

  it.each<[string, unknown, (payload: never) => unknown]>([
    ['a missing field', { customer: {} }, ({ id }: { id: string }) => `crm-${id}`],
    ['a wrong field', { ...GOOD, id: 'x' }, ({ id }: { id: string }) => `crm-${id}`],
    ['a wrong field in it', GOOD, ({ customer }: typeof GOOD) => `crm-${String(customer.name)}`],
    ['an object as text', GOOD, ({ customer }: { customer: string }) => `crm-${customer}`],
    ['JSON', GOOD, (payload: unknown) => JSON.stringify(payload)],
    ['a promise', GOOD, () => Promise.reject(new Error('later'))],
    ['an error', GOOD, () => JSON.parse('') as unknown],
    ['no object', 'text', (payload: unknown) => `crm-${String(payload)}`],
  ])('have no key that could be that of another one: %s', async (_what, sent, key) => {
    const { codes, letters } = await letterOf(sent, { custom: { schema, key, handle } } as never);
    expect(codes).toEqual(['dead-lettered', 'dead-lettered']);
    for (const letter of letters) expect(letter).not.toHaveProperty('key');
  });

  it.each([
    [100, 'custom:lead-1'],
    [101, undefined],
  ])('whose schema finds %d wrong fields beside the key have the key %p', async (wrong, known) => {
    const schema = z.object({ id: z.string(), numbers: z.array(z.number()) });
    const sent = { id: 'lead-1', numbers: Array<string>(wrong).fill('x') };
    const key = ({ id }: { id: string }) => id;
    const { letters } = await letterOf(sent, { custom: { schema, key, handle } } as never);
    expect(letters[0]?.key).toBe(known);
  });

  it.each<[string, (PropertyKey | { key: PropertyKey })[], boolean]>([
    ['with the payload as a whole', [], false],
    [
      'with the field, which the schema names by objects',
      [{ key: 'customer' }, { key: 'id' }],
      false,
    ],
    ['with another field, which it names so', [{ key: 'customer' }, { key: 'name' }], true],
    ['with the object that has the field', ['customer'], false],
    ['with the field', ['customer', 'id'], false],
    ['with a field beside it', ['customer', 'name'], true],
    ['with a field of that name elsewhere', ['id'], true],
    ['with an object of that name elsewhere', ['order', 'customer'], true],
  ])('have a key only if nothing is wrong with its field: %s', async (_where, path, hasKey) => {
    const validate = () => ({ issues: [{ message: 'no', path }] });
    const custom = {
      schema: { '~standard': { version: 1, vendor: 'own', validate } },
      key: ({ customer }: { customer: { id: string } }) => customer.id,
      handle,
    };
    const sent = { id: 'a', order: { customer: 'b' }, customer: { id: 'c', name: 'd' } };
    const { codes, letters } = await letterOf(sent, { custom } as never);
    expect(codes[1]).toBe(hasKey ? 'in-dead-letters' : 'dead-lettered');
    expect(letters[0]!.key).toBe(hasKey ? 'custom:c' : undefined);
  });

  it('have no key if the schema itself failed', async () => {
    const failing = z.object({}).check(() => {
      throw new Error('no connection');
    });
    const custom = { schema: failing, key: ({ id }: { id: string }) => id, handle };
    const { codes } = await letterOf(GOOD, { custom } as never);
    expect(codes).toEqual(['dead-lettered', 'dead-lettered']);
  });
});

describe('the worker of a queue', () => {
  const jobOf = (body: string): QueuedDelivery => ({
    webhookId: 'w-1',
    timestamp: SECONDS,
    receivedAt: NOW,
    tenant: 'acme',
    eventName: 'crm:moved',
    callId: 'call-1',
    key: `tenant:acme:${KEY}`,
    body: Buffer.from(body).toString('base64'),
  });
  const known = { tenant: 'acme', eventName: 'crm:moved', callId: 'call-1' };

  it.each([
    ['that its schema refuses', JSON.stringify(MOVED)],
    ['that it cannot read', '{'],
  ])('keeps what the job knew of an event %s', async (_what, body) => {
    const deadLetter = jest.fn<(letter: DeadLetter) => void>();
    const onOutcome = jest.fn();
    const options = { on, events, deadLetter, onOutcome, logger: new Lines() };
    const process = createJobProcessor(options as never);
    expect(await process(jobOf(body))).toMatchObject({ status: 'dead' });
    const expected = { ...known, key: `tenant:acme:${KEY}` };
    expect(deadLetter.mock.calls[0]?.[0]).toMatchObject({ ...expected, reason: 'invalid-payload' });
    expect(onOutcome.mock.calls[0]?.[0]).toMatchObject({ ...expected, outcome: 'dead-lettered' });
  });

  it('keeps it where the job has no body', async () => {
    const onOutcome = jest.fn();
    const process = createJobProcessor({ onOutcome, logger: new Lines() });
    await process({ ...jobOf(''), body: '?' });
    expect(onOutcome.mock.calls[0]?.[0]).toMatchObject({ ...known, key: `tenant:acme:${KEY}` });
  });
});
