import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type HandlerContext, memoryStore, type Store } from '../../src/index.ts';
import { createTestReceiver, deferred, delivery, STARTED } from '../support.ts';

describe('oneAtATime', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const event = (eventName: string, callId: string) => ({ eventName, callId });
  const started = (callId: string) => event('call:started', callId);
  const completed = (callId: string) => event('call:completed', callId);

  /** Handlers that run until they are ended, in two receivers on one store. */
  function setup(options: object = {}, store: Store = memoryStore()) {
    const begun: string[] = [];
    const runs = new Map<string, ReturnType<typeof deferred<void>>>();
    const handle = (payload: object, { attempt }: HandlerContext) => {
      const { eventName, callId } = payload as { eventName: string; callId: string };
      const name = `${callId} ${eventName.slice(5)} ${String(attempt)}`;
      begun.push(name);
      const run = deferred();
      runs.set(name, run);
      return run.promise;
    };
    const on = { 'call:started': handle, 'call:completed': handle };
    const all = { store, on, oneAtATime: true as const, ...options };
    const settle = () => jest.advanceTimersByTimeAsync(0);
    /** The longest time until a delivery that waits asks again. */
    const pause = () => jest.advanceTimersByTimeAsync(550);
    return {
      store,
      begun,
      one: createTestReceiver(all),
      other: createTestReceiver(all),
      settle,
      pause,
      async end(name: string, error?: Error) {
        const run = runs.get(name);
        if (error) run?.reject(error);
        else run?.resolve();
        await settle();
      },
    };
  }

  it('lets the second event of a call wait; other calls go on', async () => {
    const { one, begun, settle, pause, end } = setup();
    const first = one.send(started('a'));
    await settle();
    const second = one.send(completed('a'));
    const ofOther = one.send(completed('b'));
    await settle();
    expect(begun).toEqual(['a started 1', 'b completed 1']);
    await end('b completed 1');
    expect(await ofOther).toBe('handled');
    await end('a started 1');
    expect(await first).toBe('handled');
    await pause();
    expect(begun).toEqual(['a started 1', 'b completed 1', 'a completed 1']);
    await end('a completed 1');
    expect(await second).toBe('handled');
  });

  it('takes up a place again once it has waited: no more run than may', async () => {
    const { one, other, settle, pause, end, begun } = setup({ maxInFlight: 1 });
    const first = other.send(started('a'));
    await settle();
    const second = one.send(completed('a'));
    await settle();
    await end('a started 1');
    await pause();
    expect(begun).toEqual(['a started 1', 'a completed 1']);
    expect(await one.send(started('b'))).toBe('overloaded');
    await end('a completed 1');
    expect(await Promise.all([first, second])).toEqual(['handled', 'handled']);
  });

  it('asks again for what another process runs, with the same claim, and uses up no attempt', async () => {
    const inner = memoryStore();
    const admit = jest.fn(inner.admit);
    const { one, other, begun, settle, end } = setup({}, { ...inner, admit });
    void one.send(started('a'));
    await settle();
    const second = other.send(completed('a'));
    await jest.advanceTimersByTimeAsync(5_000);
    expect(begun).toEqual(['a started 1']);
    const asked = admit.mock.calls.slice(1).map(([claim]) => claim);
    expect(asked.length).toBeGreaterThan(8);
    expect(asked.length).toBeLessThan(20);
    expect(new Set(asked).size).toBe(1);
    await end('a started 1');
    expect(begun).toEqual(['a started 1']);
    await jest.advanceTimersByTimeAsync(600);
    expect(begun).toEqual(['a started 1', 'a completed 1']);
    await end('a completed 1');
    expect(await second).toBe('handled');
    const { waitMs, storeMs } = other.outcomes.at(-1)!;
    expect(waitMs).toBeGreaterThan(5_000);
    expect(storeMs).toBe(0); // without the wait
  });

  it('answers 503 within ackWithin when the group stays busy, and the retry is attempt 1', async () => {
    const { one, begun, settle, end } = setup({ ackWithin: 10_000 });
    const first = one.send(started('a'));
    await settle();
    const second = one.send(completed('a'));
    await jest.advanceTimersByTimeAsync(8_999);
    expect(one.outcomes).toEqual([]);
    await jest.advanceTimersByTimeAsync(2);
    expect(await second).toBe('in-progress');
    const [outcome] = one.outcomes;
    expect(outcome).toMatchObject({ status: 503, callId: 'a', eventName: 'call:completed' });
    expect(outcome?.attempt).toBeUndefined();
    expect(outcome?.waitMs).toBeCloseTo(9_000);
    expect(outcome?.error?.message).toContain('oneAtATime');
    expect(outcome?.error?.message).toContain('9000 ms');
    await end('a started 1');
    expect(await first).toBe('handled');
    const retry = one.send(completed('a'));
    await settle();
    await end('a completed 1');
    expect(await retry).toBe('handled');
    expect(begun).toEqual(['a started 1', 'a completed 1']);
  });

  it('goes on with the next event when one fails', async () => {
    const { one, settle, pause, end } = setup();
    const first = one.send(started('a'));
    await settle();
    const second = one.send(completed('a'));
    await settle();
    await end('a started 1', new Error('the CRM is down'));
    expect(await first).toBe('handler-failed');
    await pause();
    await end('a completed 1');
    expect(await second).toBe('handled');
  });

  it('handles one of several equal events that waited', async () => {
    const { one, begun, settle, pause, end } = setup();
    void one.send(started('a'));
    await settle();
    const sent = [1, 2, 3].map(() => one.send(completed('a')));
    await settle();
    await end('a started 1');
    await pause();
    await end('a completed 1');
    await pause();
    const outcomes = (await Promise.all(sent)).sort();
    expect(outcomes.filter((outcome) => outcome === 'handled')).toHaveLength(1);
    expect(begun).toEqual(['a started 1', 'a completed 1']);
  });

  it('ends the waits when the receiver closes, and waits for what runs', async () => {
    const { one, begun, settle, pause, end } = setup();
    const first = one.send(started('a'));
    await settle();
    const second = one.send(completed('a'));
    await settle();
    const closed = one.receiver.close();
    await pause();
    expect(await second).toBe('shutting-down');
    await end('a started 1');
    expect(await first).toBe('handled');
    await closed;
    expect(begun).toEqual(['a started 1']);
  });

  it('keeps no other call out while the events of one call wait', async () => {
    const { one, begun, settle, end } = setup({ maxInFlight: 3 });
    void one.send(started('a'));
    await settle();
    for (let count = 0; count < 3; count++) void one.send(completed('a'));
    await settle();
    const other = one.send(started('b'));
    await settle();
    expect(begun).toEqual(['a started 1', 'b started 1']);
    await end('b started 1');
    expect(await other).toBe('handled');
  });

  it('lets as many wait as may run beside those that run, whether they arrive together or not', async () => {
    for (const isTogether of [true, false]) {
      const { one, settle } = setup({ maxInFlight: 2 });
      const sent: string[] = [];
      void one.send(started('a'));
      await settle();
      for (let count = 0; count < 20; count++) {
        void one.send(completed('a')).then((outcome) => sent.push(outcome));
        if (!isTogether) await settle();
      }
      await settle();
      // What has not asked the store so far takes a place. Then two wait, and a third takes the place that is left.
      const waiting = 20 - sent.filter((outcome) => outcome === 'overloaded').length;
      expect(waiting).toBe(isTogether ? 1 : 3);
    }
  });

  it('ends a wait when the store fails', async () => {
    const inner = memoryStore();
    let down = false;
    const admit: Store['admit'] = (claim) =>
      down ? Promise.reject(new Error('refused')) : inner.admit(claim);
    const { one, settle } = setup({}, { ...inner, admit });
    void one.send(started('a'));
    await settle();
    const second = one.send(completed('a'));
    await settle();
    down = true;
    await jest.advanceTimersByTimeAsync(100);
    expect(await second).toBe('store-unavailable');
  });

  it('costs no call of the store when the group is free', async () => {
    const inner = memoryStore();
    const [admit, complete] = [jest.fn(inner.admit), jest.fn(inner.complete)];
    const store = { ...inner, admit, complete };
    const on = { 'call:started': () => undefined };
    for (const oneAtATime of [undefined, true] as const)
      await createTestReceiver({ store, on, oneAtATime }).send(started(`call ${oneAtATime}`));
    expect(admit.mock.calls.map(([{ group }]) => group)).toEqual([undefined, 'call true']);
    expect(complete).toHaveBeenCalledTimes(2);
  });

  it('redrives an event without a key as often as it takes', async () => {
    jest.useRealTimers();
    let isDown = true;
    const { receiver } = createTestReceiver({
      oneAtATime: () => 'all',
      deadLetter: () => undefined,
      custom: {
        handle: () => {
          if (isDown) throw new Error('down');
        },
      },
    });
    const letter = { rawBody: new TextEncoder().encode('{"any":1}'), webhookId: 'w1' };
    expect((await receiver.deliver(letter)).outcome).toBe('dead-lettered');
    expect((await receiver.deliver(letter)).outcome).toBe('dead-lettered');
    isDown = false;
    expect((await receiver.deliver(letter)).outcome).toBe('handled');
  });
});

describe('keys of different kinds', () => {
  const COMPLETED = { eventName: 'call:completed', callId: 'c1' };
  const pass = () => undefined;

  it('two events with the same eventId and different names are both handled', async () => {
    const { z } = await import('zod');
    const schema = z.looseObject({});
    const { send } = createTestReceiver({
      events: { 'call:noted': schema, 'call:tagged': schema } as never,
      on: { 'call:noted': pass, 'call:tagged': pass },
    });
    expect(await send({ eventName: 'call:noted', eventId: 'e1' })).toBe('handled');
    expect(await send({ eventName: 'call:tagged', eventId: 'e1' })).toBe('handled');
    expect(await send({ eventName: 'call:noted', eventId: 'e1' })).toBe('duplicate');
  });

  it.each([
    ['a recording', { eventName: 'call:recording-available', eventId: 'c1:call:completed' }],
    ['a custom payload', { id: 'c1:call:completed' }],
  ])('%s whose id looks like the key of a call keeps out no call', async (_what, lookalike) => {
    const { send } = createTestReceiver({
      on: { 'call:recording-available': pass, 'call:completed': pass },
      custom: { key: (payload) => (payload as { id: string }).id, handle: pass },
    });
    expect(await send(lookalike)).toBe('handled');
    expect(await send(COMPLETED)).toBe('handled');
  });

  it('a call id that is the name of another kind of key keeps out nothing', async () => {
    const { send } = createTestReceiver({
      on: { 'call:started': pass },
      custom: { key: () => 'call:started', handle: pass },
    });
    expect(await send({ ...STARTED, callId: 'custom' })).toBe('handled');
    expect(await send({ any: 'payload' })).toBe('handled');
  });

  it('a webhook id that was seen is refused, also with another signed body', async () => {
    const { send } = createTestReceiver({ on: { 'call:started': pass, 'call:completed': pass } });
    expect(await send(STARTED, { webhookId: 'once' })).toBe('handled');
    expect(await send(COMPLETED, { webhookId: 'once' })).toBe('replayed');
    expect(await send({ some: 'thing' }, { webhookId: 'once' })).toBe('replayed');
  });
});

const on = { 'call:started': () => undefined };

describe('a replay whose key the code of the user changes', () => {
  const twice = async (options: Parameters<typeof createTestReceiver>[0], body: object) => {
    const { receiver } = createTestReceiver(options);
    const request = await delivery(body, { webhookId: 'replayed' });
    const { outcome: first } = await receiver.receive(request);
    const { outcome: second } = await receiver.receive(request);
    return [first.outcome, second.outcome];
  };

  it('is refused if it is a custom payload', async () => {
    let count = 0;
    const custom = { key: () => `key-${String(++count)}`, handle: () => undefined };
    expect(await twice({ custom }, { id: 1 })).toEqual(['handled', 'replayed']);
  });

  it('is refused if oneAtATime throws the second time', async () => {
    let count = 0;
    const oneAtATime = () => {
      if (++count > 1) throw new Error('no');
      return 'group';
    };
    const deadLetter = () => undefined;
    expect(await twice({ on, oneAtATime, deadLetter }, STARTED)).toEqual(['handled', 'replayed']);
  });

  it('is refused if a schema fails the second time', async () => {
    let count = 0;
    const validate = (value: unknown) =>
      ++count > 1 ? { issues: [{ message: 'no' }] } : { value };
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as never;
    const more = { events: { 'call:voicemail': schema }, deadLetter: () => undefined };
    const options = { ...more, on: { 'call:voicemail': () => undefined } } as never;
    const event = { eventName: 'call:voicemail', callId: 'c1' };
    expect(await twice(options, event)).toEqual(['handled', 'replayed']);
  });
});
