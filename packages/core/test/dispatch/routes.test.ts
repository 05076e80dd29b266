import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { Routes } from '../../src/events/route.ts';
import type { Around, HandlerOptions, Run } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { bytes, createTestReceiver, Lines, NOW, RECORDING, SECONDS, STARTED } from '../support.ts';

const handler = () => undefined;
const find = async (payload: unknown, options: unknown = {}) => {
  const routes = new Routes({ ...(options as HandlerOptions), fieldNames: {}, logger: console });
  const route = await routes.find(bytes(JSON.stringify(payload)), undefined);
  if (route.invalid) throw route.invalid;
  return route;
};
const refused = expect.objectContaining({ code: 'invalid-payload' }) as unknown;

describe('Routes', () => {
  it('finds the handler of an event by its name', async () => {
    const route = await find(STARTED, { on: { 'call:started': handler } });
    expect(route).toEqual({
      eventName: 'call:started',
      callId: 'call-1',
      key: 'call-1:call:started',
      body: STARTED,
      event: STARTED,
      sensitiveData: { rawBody: bytes(JSON.stringify(STARTED)), fieldNames: {} },
      outcome: 'handled',
      handle: handler,
    });
  });

  it('passes on known events unchanged, with unknown fields', async () => {
    const event = { ...RECORDING, later: { deep: [1, null] } };
    expect((await find(event)).event).toEqual(event);
    const proto = await new Routes({ fieldNames: {}, logger: console }).find(
      bytes('{"eventName":"call:started","__proto__":{"a":1}}'),
      undefined,
    );
    expect(Object.hasOwn(proto.event as object, '__proto__')).toBe(true);
  });

  it.each([
    ['an event without a handler', STARTED],
    ['an unknown event', { eventName: 'call:voicemail' }],
    ['a name of Object.prototype', { eventName: 'constructor' }],
    ['__proto__', { eventName: '__proto__' }],
    ['no name', { some: 'thing' }],
    ['a list', [1, 2]],
    ['a number', 4],
    ['null', null],
  ])('ignores %s', async (_name, payload) => {
    expect(await find(payload)).toMatchObject({ outcome: 'ignored', event: payload });
    expect((await find(payload)).handle).toBeUndefined();
    expect((await find(payload, { onUnhandled: handler })).handle).toBe(handler);
  });

  it.each(['call:voicemail', 'constructor', 'toString'])(
    'passes the event %s on as its schema made it',
    async (eventName) => {
      const events = { [eventName]: z.object({ n: z.number() }) };
      const on = { [eventName]: handler };
      const route = await find({ eventName, n: 1 }, { on, events });
      expect(route).toMatchObject({ outcome: 'handled', handle: handler, event: { n: 1 } });
    },
  );

  it('keeps what errors must not quote: the body, and what a schema made of it', async () => {
    const events = { 'call:voicemail': z.object({ note: z.string().toUpperCase() }) };
    const event = { eventName: 'call:voicemail', note: 'private' };
    const options = { events, on: { 'call:voicemail': handler } };
    expect((await find(event, options)).sensitiveData).toEqual({
      rawBody: bytes(JSON.stringify(event)),
      made: { note: 'PRIVATE' },
      fieldNames: {},
    });
    expect((await find({ note: 'private' })).sensitiveData).toEqual({
      rawBody: bytes(JSON.stringify({ note: 'private' })),
      fieldNames: {},
    });
  });

  it('gives keys of up to 4,000 characters', async () => {
    expect((await find({ ...STARTED, callId: 'x'.repeat(3_987) })).key).toHaveLength(4_000);
    const custom = { key: () => 'x'.repeat(4_000), handle: handler };
    expect((await find({ id: 1 }, { custom })).key).toBe(`custom:${'x'.repeat(4_000)}`);
  });

  it('gives an event with a huge id no key, and handles it every time', async () => {
    for (const change of [{ eventId: 'x'.repeat(4_001) }, { callId: null }]) {
      const route = await find({ ...STARTED, eventName: 'call:unheard-of', ...change });
      expect(route.key).toBeUndefined();
    }
    expect((await find({ ...STARTED, callId: ':'.repeat(900) })).key).toHaveLength(2_713);
  });

  it('passes a custom payload on as it is, without a schema', async () => {
    const custom = { handle: handler, key: () => 'k' };
    for (const payload of [{ any: 'thing' }, [1], 'text', null])
      expect(await find(payload, { custom })).toMatchObject({
        outcome: 'handled',
        key: 'custom:k',
        event: payload,
      });
  });

  it('passes on extra events as their schema returns them', async () => {
    const events = { 'call:voicemail': z.object({ seconds: z.string().transform(Number) }) };
    const on = { 'call:voicemail': handler };
    const route = await find(
      { eventName: 'call:voicemail', eventId: 'e', seconds: '7' },
      { events, on },
    );
    expect(route).toMatchObject({
      event: { seconds: 7 },
      outcome: 'handled',
      key: 'event:call%3Avoicemail:e',
    });
    await expect(find({ eventName: 'call:voicemail' }, { events, on })).rejects.toEqual(refused);
  });

  it('accepts any Standard Schema, also asynchronous ones', async () => {
    const validate = (value: unknown) =>
      Promise.resolve(
        (value as { ok?: boolean }).ok
          ? { value: 'fine' }
          : { issues: [{ message: 'planted', path: [{ key: 'ok' }] }] },
      );
    const custom = {
      schema: { '~standard': { version: 1, vendor: 'test', validate } },
      handle: handler,
    };
    expect(await find({ ok: true }, { custom })).toMatchObject({
      event: 'fine',
      outcome: 'handled',
    });
    await expect(find({ ok: false }, { custom })).rejects.toMatchObject({
      code: 'invalid-payload',
      message: 'The payload does not match its schema: ok: invalid.',
      issues: [{ path: 'ok', code: 'invalid' }],
    });
  });

  it('gives custom payloads keys that no call event can have', async () => {
    const custom = {
      schema: z.object({ id: z.string() }),
      key: (p: { id: string }) => p.id,
      handle: handler,
    };
    expect((await find({ id: 'call-1:call:started' }, { custom })).key).toBe(
      'custom:call-1:call:started',
    );
    expect(
      (await find({ id: 'x' }, { custom: { ...custom, key: undefined } })).key,
    ).toBeUndefined();
    expect(
      (await find({ id: 'x' }, { custom: { ...custom, key: () => undefined } })).key,
    ).toBeUndefined();
    await expect(find({ id: '' }, { custom })).rejects.toEqual(refused);
    await expect(find({ id: 'x'.repeat(4_001) }, { custom })).rejects.toEqual(refused);
    await expect(find({ other: 1 }, { custom })).rejects.toEqual(refused);
    const list = { ...custom, key: () => ['k'] };
    await expect(find({ id: 'x' }, { custom: list })).rejects.toEqual(refused);
  });

  it('does not treat an event as a custom payload', async () => {
    const custom = { schema: z.looseObject({}), handle: handler };
    expect((await find({ eventName: 'call:voicemail' }, { custom })).outcome).toBe('ignored');
    expect((await find({ eventName: 5 }, { custom })).outcome).toBe('handled');
  });

  it('reports a custom key that throws as an invalid payload, without the body', async () => {
    const custom = {
      schema: z.object({ name: z.string() }),
      key: (payload: { name: string }) => {
        throw new Error(`no key for ${payload.name}`);
      },
      handle: handler,
    };
    const error: unknown = await find({ name: 'Ada Lovelace' }, { custom }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: 'invalid-payload',
      message: 'custom.key failed: Error: no key for [redacted]',
    });
  });
});

const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
const JOB = { webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW, body };
const storage = new AsyncLocalStorage<string>();

/** A layer that writes down when it begins and ends. */
const tracer =
  (name: string, log: string[]): Around =>
  async (run) => {
    log.push(`${name} begins`);
    await run();
    log.push(`${name} ends`);
  };

describe('around', () => {
  it('wraps each run of a handler, the first layer outermost', async () => {
    const log: string[] = [];
    const around = [tracer('outer', log), tracer('inner', log)];
    const { send } = createTestReceiver({
      around,
      on: { 'call:started': () => log.push('handler') },
    });
    expect(await send(STARTED)).toBe('handled');
    expect(log).toEqual(['outer begins', 'inner begins', 'handler', 'inner ends', 'outer ends']);
  });

  it('passes on the event and its context, and carries an AsyncLocalStorage', async () => {
    const seen: unknown[] = [];
    const around: Around = (run, event, { key }) => {
      seen.push(event);
      return storage.run(String(key), run);
    };
    const on = {
      'call:started': async () => void seen.push(await Promise.resolve(storage.getStore())),
    };
    const { send } = createTestReceiver({ around, on });
    await send(STARTED);
    expect(seen).toEqual([STARTED, 'call-1:call:started']);
  });

  it('wraps onUnhandled, custom handlers, and the handlers of workers', async () => {
    const log: string[] = [];
    const around = tracer('layer', log);
    const handle = () => undefined;
    await createTestReceiver({ around, onUnhandled: handle }).send(STARTED);
    await createTestReceiver({ around, custom: { handle } }).send({ a: 1 });
    const process = createJobProcessor({ around, on: { 'call:started': handle } });
    await process(JOB);
    expect(log).toEqual(Array(3).fill(['layer begins', 'layer ends']).flat());
  });

  it.each<[string, Around]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws after the run',
      async (run) => {
        await run();
        throw new Error('no');
      },
    ],
    [
      'catches the error of the handler',
      async (run) => {
        await run().catch(() => undefined);
      },
    ],
    ['does not wait for the handler', (run) => void run()],
  ])('fails the attempt if a layer %s', async (name, around) => {
    const fails = name.includes('handler');
    const on = { 'call:started': () => (fails ? Promise.reject(new Error('no')) : undefined) };
    const { send } = createTestReceiver({ around, on });
    expect(await send(STARTED)).toBe('handler-failed');
  });

  const forgetful: [string, Around][] = [
    ['returns run', (run) => () => run],
    ['resolves with run', (run) => Promise.resolve(run)],
    ['returns nothing', () => undefined],
  ];
  it.each(forgetful)('fails the attempt if a layer never calls run: %s', async (_name, around) => {
    const handle = jest.fn();
    const on = { 'call:started': handle };
    for (const layers of [[around], [tracer('outer', []), around]]) {
      const { send, outcomes } = createTestReceiver({ around: layers, on });
      expect(await send(STARTED)).toBe('handler-failed');
      expect(outcomes[0]?.error?.message).toContain('around did not call run');
    }
    const process = createJobProcessor({ around, on, logger: new Lines() });
    expect(await process(JOB)).toMatchObject({
      status: 'retry',
      error: { message: expect.stringContaining('around did not call run') },
    });
    expect(handle).not.toHaveBeenCalled();
  });

  it('refuses a run that a layer calls after it has ended', async () => {
    let late: Run | undefined;
    const handle = jest.fn();
    const { send } = createTestReceiver({
      around: (run) => void (late = run),
      on: { 'call:started': handle },
    });
    expect(await send(STARTED)).toBe('handler-failed');
    await expect(late?.()).rejects.toThrow('It can no longer run');
    expect(handle).not.toHaveBeenCalled();
  });

  it('waits for a handler that a layer forgot to await', async () => {
    let finish = (): void => undefined;
    const work = new Promise<void>((resolve) => (finish = resolve));
    const { send, outcomes } = createTestReceiver({
      around: (run) => void run(),
      on: { 'call:started': () => work },
    });
    const response = send(STARTED);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes).toEqual([]);
    finish();
    expect(await response).toBe('handled');
  });

  it('runs the handler once, however often a layer calls run', async () => {
    let runs = 0;
    const { send } = createTestReceiver({
      around: async (run) => {
        await Promise.all([run(), run()]);
      },
      on: { 'call:started': () => (runs += 1) },
    });
    expect(await send(STARTED)).toBe('handled');
    expect(runs).toBe(1);
  });
});
