import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { memoryStore, verify, type ReceiverOptions } from '../../src/index.ts';
import { createTestReceiver, delivery, NOW, OTHER_SECRET, SECRET, STARTED } from '../support.ts';

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
  ['the profile standard-webhooks', () => ({ profile: 'standard-webhooks' })],
  ['a secret provider', () => ({ secret: () => SECRET })],
  ['an asynchronous secret provider', () => ({ secret: () => RealPromise.resolve(SECRET) })],
  [
    'tenants',
    () => ({ tenant: () => 'acme', secret: ({ tenant }) => (tenant === 'acme' ? SECRET : null) }),
  ],
];

/** The signed headers, and the same under the names of Standard Webhooks. */
const inBothProfiles = (headers: Record<string, string>) => ({
  ...headers,
  ...Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.replace(/^X-Service-(?:Webhook-)?/i, 'webhook-'),
      value,
    ]),
  ),
});

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
    expect(await verify(await delivery(STARTED), options)).toMatchObject({ secretId: 'secret-1' });
    await expect(async () => verify(forged, options)).rejects.toThrow('The only configured secret');
  });

  it.each(OPTIONS)('with %s, no handler runs for a forged request', async (_name, options) => {
    const handler = jest.fn();
    const { receiver } = createTestReceiver({ onUnhandled: handler, ...options() });
    const receive = async (secret: string) => {
      const request = await delivery(STARTED, { secret });
      return (await receiver.receive({ ...request, headers: inBothProfiles(request.headers) }))
        .status;
    };
    expect(await receive(OTHER_SECRET)).toBe(401);
    expect(handler).not.toHaveBeenCalled();
    expect(await receive(SECRET)).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});
