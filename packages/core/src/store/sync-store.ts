import type { Awaitable } from '../awaitable.ts';
import type { Store } from './store.ts';

type Calls = Pick<Store, 'admit' | 'complete' | 'release' | 'extend'>;
type AnyCall = (...args: never[]) => unknown;

const syncCalls = new WeakMap<AnyCall, AnyCall>();

/**
 * Makes a synchronous function into a store method: it returns the promise that `Store` asks for,
 * and `callSyncIfPossible` can call the function behind it without one (decision 9).
 */
export function syncMethod<Args extends unknown[], Result>(
  call: (...args: Args) => Result,
): (...args: Args) => Promise<Result> {
  const method = (...args: Args) =>
    new Promise<Result>((resolve) => {
      resolve(call(...args));
    });
  syncCalls.set(method, call);
  return method;
}

/**
 * Calls a store method, synchronously if it was made with `syncMethod`. The method is looked up on
 * each call, so a wrapper or a spy that replaces it is called instead.
 */
export function callSyncIfPossible<Name extends keyof Calls>(
  store: Store,
  name: Name,
  ...args: Parameters<Calls[Name]>
): Awaitable<Awaited<ReturnType<Calls[Name]>>> {
  const call = (syncCalls.get(store[name]) ?? store[name]) as (...args: unknown[]) => never;
  return call.apply(store, args);
}
