import type { Awaitable } from '../awaitable.ts';
import type { Store } from './store.ts';

type Calls = Pick<Store, 'admit' | 'complete' | 'release' | 'extend'>;
type AnyCall = (...args: never[]) => unknown;

const behind = new WeakMap<AnyCall, AnyCall>();

/**
 * A call of a store that has its answer at hand, with the promise that the port asks for. The
 * receiver finds the plain call behind it, and does without.
 */
export function promised<Args extends unknown[], Answer>(
  call: (...args: Args) => Answer,
): (...args: Args) => Promise<Answer> {
  const withPromise = (...args: Args) =>
    new Promise<Answer>((resolve) => {
      resolve(call(...args));
    });
  behind.set(withPromise, call);
  return withPromise;
}

/**
 * Calls a store, without a promise where `promised` knows how. Looked up by the function that is
 * there now, so whoever wraps a store, or watches one that is in use, is asked.
 */
export function ask<Name extends keyof Calls>(
  store: Store,
  name: Name,
  ...args: Parameters<Calls[Name]>
): Awaitable<Awaited<ReturnType<Calls[Name]>>> {
  const call = (behind.get(store[name]) ?? store[name]) as (...args: unknown[]) => never;
  return call.apply(store, args);
}
