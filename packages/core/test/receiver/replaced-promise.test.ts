import { AsyncLocalStorage } from 'node:async_hooks';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type CallStartedEvent,
  type HandlerContext,
  type Logger,
  memoryStore,
  type ReceiverOptions,
  sign,
  verify,
} from '../../src/index.ts';
import {
  createTestReceiver,
  deferred,
  delivery,
  NOW,
  OTHER_SECRET,
  SECRET,
  SECRET_ID,
  STARTED,
} from '../support.ts';

const RealPromise = globalThis.Promise;

class SubclassedPromise<Value> extends Promise<Value> {}

/** No subclass of the real one, like bluebird. */
class ForeignPromise<Value> {
  readonly #real: Promise<Value>;
  static readonly resolve = (value: unknown) =>
    new ForeignPromise((resolve) => {
      resolve(value);
    });
  static readonly reject = (reason: unknown) =>
    new ForeignPromise((_, reject) => {
      reject(reason);
    });

  constructor(executor: ConstructorParameters<typeof Promise<Value>>[0]) {
    this.#real = new RealPromise(executor);
  }
  then(...callbacks: Parameters<Promise<Value>['then']>) {
    return ForeignPromise.resolve(this.#real.then(...callbacks));
  }
  catch(onRejected: (reason: unknown) => unknown) {
    return ForeignPromise.resolve(this.#real.catch(onRejected));
  }
  finally(onSettled: () => void) {
    return ForeignPromise.resolve(this.#real.finally(onSettled));
  }
}

const OPTIONS: [string, () => Partial<ReceiverOptions<never, never>>][] = [
  ['the default store', () => ({})],
  ['a store of its own', () => ({ store: { ...memoryStore() } })],
  ['a secret provider', () => ({ secret: () => SECRET })],
  ['an asynchronous secret provider', () => ({ secret: () => RealPromise.resolve(SECRET) })],
  [
    'tenants',
    () => ({ tenant: () => 'acme', secret: ({ tenant }) => (tenant === 'acme' ? SECRET : null) }),
  ],
];

// Bluebird, continuation-local-storage and others replace it for the whole process.
describe.each([
  ['a class of its own', ForeignPromise],
  ['a subclass', SubclassedPromise],
])('where the global Promise is %s', (_what, Replacement) => {
  beforeEach(() => {
    globalThis.Promise = Replacement as unknown as PromiseConstructor;
  });
  afterEach(() => {
    globalThis.Promise = RealPromise;
  });

  it('verify() accepts a genuine delivery and refuses a forged one', async () => {
    const options = { secret: SECRET, now: () => NOW };
    const forged = await delivery(STARTED, { secret: OTHER_SECRET });
    expect(await verify(await delivery(STARTED), options)).toMatchObject({ secretId: SECRET_ID });
    await expect(async () => verify(forged, options)).rejects.toThrow('The only configured secret');
  });

  it.each(OPTIONS)('with %s, no handler runs for a forged request', async (_name, options) => {
    const handler = jest.fn();
    const { receiver } = createTestReceiver({ onUnhandled: handler, ...options() });
    const receive = async (secret: string) => {
      const request = await delivery(STARTED, { secret });
      return (await receiver.receive(request)).status;
    };
    expect(await receive(OTHER_SECRET)).toBe(401);
    expect(handler).not.toHaveBeenCalled();
    expect(await receive(SECRET)).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});

describe('another realm', () => {
  /** As in `vm`, jsdom and the sandboxes of test runners. */
  const foreign = (text: string): Uint8Array =>
    runInNewContext('Uint8Array.from(text, (char) => char.charCodeAt(0))', { text }) as Uint8Array;

  it('bytes of another realm are verified, handled and kept like any others', async () => {
    const body = foreign(JSON.stringify(STARTED));
    expect(body instanceof Uint8Array).toBe(false);
    const headers = await sign({ secret: SECRET, body, timestamp: new Date(NOW) });
    const now = () => NOW;
    expect(await verify({ headers, body }, { secret: SECRET, now })).toMatchObject({
      secretId: SECRET_ID,
    });
    const seen: unknown[] = [];
    const { receiver } = createTestReceiver({
      on: { 'call:started': ({ callId }: CallStartedEvent) => seen.push(callId) },
    });
    expect((await receiver.receive({ headers, body })).status).toBe(200);
    expect(
      (await receiver.deliver(foreign('{"eventName":"call:started","callId":"c2"}'))).outcome,
    ).toBe('handled');
    expect(seen).toEqual(['call-1', 'c2']);
  });

  it('what is no bytes can not be verified', async () => {
    const headers = await sign({ secret: SECRET, body: '{}', timestamp: new Date(NOW) });
    const { receiver } = createTestReceiver({});
    for (const body of [
      '{}',
      [1],
      new DataView(new ArrayBuffer(2)),
      new Uint16Array(1),
      { length: 2 },
    ])
      expect((await receiver.receive({ headers, body: body as never })).outcome.outcome).toBe(
        'body-already-parsed',
      );
  });
});

describe('what belongs to one delivery runs in the async context of its request', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  const storage = new AsyncLocalStorage<string>();
  /** Notes in which context each callback of the user runs. */
  function setup() {
    const seen: Record<string, (string | undefined)[]> = {};
    const note = (what: string) => void (seen[what] ??= []).push(storage.getStore());
    const inner = memoryStore();
    const gates = new Map<string, ReturnType<typeof deferred<void>>>();
    const log =
      (what: string): Logger['warn'] =>
      () =>
        note(what);
    const receiver = createTestReceiver({
      store: {
        ...inner,
        admit: (claim) => (note('admit'), inner.admit(claim)),
        extend: (key, token, ms) => (note('extend'), inner.extend(key, token, ms)),
        complete: (key, token, mark) => (note('complete'), inner.complete(key, token, mark)),
      },
      on: {
        'call:started': async ({ callId }: CallStartedEvent, { signal }: HandlerContext) => {
          signal.addEventListener('abort', () => note('abort'));
          const gate = deferred();
          gates.set(String(callId), gate);
          await gate.promise;
        },
      },
      ackWithin: 10_000,
      leaseFor: 15_000,
      logger: { warn: log('log'), error: log('log') },
      onOutcome: ({ outcome, late }) => note(late ? `late ${outcome}` : outcome),
      onError: () => note('onError'),
    }).receiver;
    return {
      receiver,
      seen,
      gates,
      /** A request in the context of its call. */
      send: async (callId: string) => {
        const request = await delivery({ ...STARTED, callId });
        return storage.run(callId, () => receiver.receive(request));
      },
    };
  }

  it('although one timer serves them all', async () => {
    const { seen, gates, send } = setup();
    const responses = ['a', 'b', 'c'].map((callId) => send(callId));
    await jest.advanceTimersByTimeAsync(16_000);
    await Promise.all(responses);
    gates.get('a')?.resolve();
    gates.get('b')?.reject(new Error('down'));
    gates.get('c')?.resolve();
    await jest.advanceTimersByTimeAsync(1_000);
    const abc = ['a', 'b', 'c'];
    expect(seen['deadline']).toEqual(abc);
    expect(seen['abort']).toEqual(abc);
    expect([...new Set(seen['extend'])].sort()).toEqual(abc);
    expect(seen['admit']).toEqual(abc);
    expect(seen['complete']?.sort()).toEqual(['a', 'c']);
    expect(seen['late handled']?.sort()).toEqual(['a', 'c']);
    expect(seen['late handler-failed']).toEqual(['b']);
    expect(seen['onError']).toEqual(['b']);
    // One line for each deadline, and one for how its handler ended.
    expect(seen['log']?.sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  });

  it('whoever closes the receiver', async () => {
    const { receiver, seen, gates, send } = setup();
    const sent = send('a');
    await jest.advanceTimersByTimeAsync(1);
    const closing = storage.run('operator', () => receiver.close({ graceMs: 0 }));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(seen['abort']).toEqual(['a']);
    gates.get('a')?.resolve();
    await Promise.all([sent, closing]);
  });
});
