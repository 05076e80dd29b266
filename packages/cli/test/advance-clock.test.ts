import { expect, test } from '@jest/globals';
import type { AttemptSummary, WebhookEventSummary } from '@call-webhooks/simulator';
import { advanceClock } from '../src/simulator/clock.ts';
import type { Connection } from '../src/simulator/connection.ts';

// Which attempts ended while the clock was advanced, and in which order.

type Given = Pick<AttemptSummary, 'kind' | 'number' | 'startedAt'> & { readonly endedAt?: number };

const response = { kind: 'status', status: 200 };
const event = (_id: string, attempts: readonly Given[]) =>
  ({
    _id,
    attempts: attempts.map((one) => ({ ...one, ...(one.endedAt !== undefined && { response }) })),
  }) as unknown as WebhookEventSummary;

const attempt = (number: number, startedAt: number, endedAt?: number, kind = 'delivery') =>
  ({ kind, number, startedAt, ...(endedAt !== undefined && { endedAt }) }) as Given;

/** A simulator whose events are first these, and then those. */
const connection = (...reads: readonly (readonly WebhookEventSummary[])[]): Connection => {
  const left = [...reads];
  return {
    get: () => Promise.resolve(left.shift()),
    post: () => Promise.resolve({ now: 7 }),
  } as unknown as Connection;
};

test.each<[string, readonly WebhookEventSummary[], readonly WebhookEventSummary[], string[]]>([
  [
    'those that ended before are left out',
    [event('a', [attempt(1, 1, 2)])],
    [event('a', [attempt(1, 1, 2), attempt(2, 5, 6)]), event('b', [attempt(1, 5, 6)])],
    ['a 2', 'b 1'],
  ],
  [
    'one that was in flight has ended, and one that is in flight has not',
    [event('a', [attempt(1, 1)])],
    [event('a', [attempt(1, 1, 4)]), event('b', [attempt(1, 3)])],
    ['a 1'],
  ],
  [
    'by their ends, although another began first',
    [],
    [event('a', [attempt(1, 1, 9)]), event('b', [attempt(1, 2, 3)])],
    ['b 1', 'a 1'],
  ],
  [
    'a replay of an attempt is another one',
    [event('a', [attempt(1, 1, 2)])],
    [event('a', [attempt(1, 1, 2), attempt(1, 1, 3, 'replay')])],
    ['a 1'],
  ],
])('%s', async (_what, before, after, ended) => {
  const advanced = await advanceClock(connection(before, after), 'next');
  expect(advanced.clock).toEqual({ now: 7 });
  expect(advanced.ended.map((one) => `${one.event._id} ${String(one.attempt.number)}`)).toEqual(
    ended,
  );
});
