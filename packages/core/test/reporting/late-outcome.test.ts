import { expect, it, jest } from '@jest/globals';
import { useLateClock } from '../late-clock.ts';
import { loggedStore } from '../logged-store.ts';
import { createTestReceiver, deferred, SECRET, STARTED } from '../support.ts';

useLateClock();

it.each<[string, (work: ReturnType<typeof deferred<void>>) => void, string]>([
  ['handled', (work) => work.resolve(), 'handled'],
  ['failed', (work) => work.reject(new Error('the CRM is down')), 'handler-failed'],
])('a delivery that is %s late is counted apart, and nothing of it twice', async (...row) => {
  const [, end, outcome] = row;
  const work = deferred();
  const { store, counts, counted, rows } = loggedStore();
  const { send } = createTestReceiver({
    ...{ store, ackWithin: 50, now: undefined },
    secret: [{ id: 'blue', secret: SECRET }],
    on: { 'call:started': () => work.promise },
  });
  const sent = send(STARTED);
  await jest.advanceTimersByTimeAsync(50);
  expect(await sent).toBe('deadline');
  end(work);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(await counted()).toEqual({
    'outcome/webhook/deadline/call:started': 1,
    [`late/webhook/${outcome}/call:started`]: 1,
  });
  expect((await rows()).map((one) => [one.outcome, one.late])).toEqual([
    [outcome, true],
    ['deadline', undefined],
  ]);
  // Of the delivery itself, there is one of each: how late it was sent, and its secret.
  const all = await counts();
  expect(all).toMatchObject({ 'secret/blue': 1 });
  const sumOf = (kind: string) =>
    Object.entries(all)
      .filter(([name]) => name.startsWith(`${kind}/`))
      .reduce((sum, [, count]) => sum + count, 0);
  expect(['lagMs', 'storeMs', 'deliveryMs', 'handlerMs'].map(sumOf)).toEqual([1, 1, 1, 1]);
});
