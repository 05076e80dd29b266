import { EventEmitter, getEventListeners } from 'node:events';
import { afterEach, expect, jest, test } from '@jest/globals';
import { firstError } from '../src/store/installed-client.ts';
import { answeringInTime, closeInTime, within } from '../src/store/time-limit.ts';

afterEach(() => {
  jest.useRealTimers();
});
const never = () => new Promise<never>(() => undefined);

test('a server that stops answering fails each call of a store, and those of its parts', async () => {
  jest.useFakeTimers();
  const store = answeringInTime({ peek: never, log: { read: never }, count: () => 3 });
  const failed = Promise.all(
    [store.peek(), store.log.read()].map((call) =>
      call.catch((error: unknown) => (error as Error).message),
    ),
  );
  await jest.advanceTimersByTimeAsync(30_000);
  const message = "The store's server did not respond within 30 s.";
  expect(await failed).toEqual([message, message]);
  expect(store.count()).toBe(3);
});

test('what ends in time keeps its result, and leaves no timer behind', async () => {
  jest.useFakeTimers();
  expect(await within(Promise.resolve(1), undefined, 5_000)).toBe(1);
  await expect(within(Promise.reject(new Error('no')), undefined, 5_000)).rejects.toThrow('no');
  expect(jest.getTimerCount()).toBe(0);
});

test.each([
  ['ended', () => Promise.resolve(1)],
  ['failed', () => Promise.reject(new Error('no'))],
])('nobody listens to the signal once the work has %s', async (_how, work) => {
  const { signal } = new AbortController();
  await within<unknown>(work(), signal, 5_000).catch(() => undefined);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('closing waits for two seconds, whatever becomes of it', async () => {
  jest.useFakeTimers();
  const closed = closeInTime(never);
  await jest.advanceTimersByTimeAsync(2_000);
  await closed;
  await closeInTime(() => Promise.reject(new Error('gone')));
});

test('of the errors of a client, the first one counts: those after it follow from it', () => {
  const client = new EventEmitter();
  const failure = firstError(client);
  expect(failure()).toBeUndefined();
  const [cause, closed] = [new Error('ECONNREFUSED'), new Error('Connection is closed.')];
  client.emit('error', cause);
  client.emit('error', closed);
  expect(failure()).toBe(cause);
});
