import { expect, it } from '@jest/globals';
import { memoryDeadLetters } from '@call-webhooks/core';
import type { CallTimeline, DeadLettersPage, DeliveriesPage } from '../src/api-types.ts';
import type { FailureCauses, Overview, Times } from '../src/api-types.ts';
import { NOW, open, wrote } from './support.ts';

// What others can make many of, such as the names of events, is cut where an answer lists it.

const MANY = Array.from({ length: 60 }, (_, at) => String(at).padStart(2, '0'));
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** An error of its own cause. */
const errorOf = (at: number) =>
  `The ${LETTERS[at % 26] ?? ''}${LETTERS[Math.floor(at / 26)] ?? ''} failed`;

it('deliveries offer the first 50 events, tenants and versions of the app by name', async () => {
  const { get, log } = open();
  for (const [at, name] of MANY.entries())
    await wrote(
      log,
      [{ outcome: 'handled', eventName: `e/${name}`, tenant: `t-${name}`, at: NOW - at }],
      { id: `p${name}`, version: `v${name}` },
    );
  const { eventNames, tenants, versions } = await get<DeliveriesPage>('/api/deliveries');
  const first = (prefix: string) => MANY.slice(0, 50).map((name) => prefix + name);
  expect({ eventNames, tenants, versions }).toEqual({
    ...{ eventNames: first('e/'), tenants: first('t-'), versions: first('v') },
  });
  const { log: logged } = await get<Overview>('/api/overview');
  expect([logged?.processes.length, logged?.versions.length]).toEqual([60, 60]);
});

it('failures have their 50 most frequent causes, and count them all', async () => {
  const { get, log } = open();
  for (const [at] of MANY.entries())
    await wrote(
      log,
      Array.from({ length: 1 + (at % 7) }, () => ({
        ...({ outcome: 'handler-failed', error: errorOf(at), at: NOW - at } as const),
      })),
    );
  const { causes, failures } = await get<FailureCauses>('/api/failures');
  expect([causes.length, failures]).toEqual([50, 234]);
  const counts = causes.map(({ count }) => count);
  expect(counts).toEqual([...counts].sort((one, other) => other - one));
  expect(counts.at(-1)).toBe(2);
});

it('dead letters have 50 causes, events and tenants, and a page of 50, newest first', async () => {
  const deadLetters = memoryDeadLetters();
  for (const [at, name] of MANY.entries())
    await deadLetters.put({
      ...{ reason: 'handler-failed', attempt: 1, source: 'webhook', error: undefined },
      ...{ eventName: `e/${name}`, tenant: `t-${name}`, webhookId: `w${name}`, key: `k${name}` },
      ...{ timestamp: new Date(NOW), failedAt: new Date(NOW + at), errorText: errorOf(at) },
      rawBody: new TextEncoder().encode('{}'),
    });
  const { get } = open({ deadLetters });
  const page = await get<DeadLettersPage>('/api/dead-letters');
  const { letters, causes, eventNames, tenants, total } = page;
  expect([letters.length, causes.length, tenants.length, total]).toEqual([50, 50, 50, 60]);
  expect(eventNames.length).toBeLessThanOrEqual(50);
  expect(letters.map(({ tenant }) => tenant)).toEqual(
    MANY.slice(10)
      .map((name) => `t-${name}`)
      .reverse(),
  );
  expect(causes[0]?.text).toBe(errorOf(59));
});

it('times have the 30 slowest handlers', async () => {
  const { get, log } = open();
  const times = Object.fromEntries(
    MANY.map((name, at) => [`handlerMs/e-${name}/${String(at)}`, 1]),
  );
  await wrote(log, [{ outcome: 'handled' }], { times });
  const { events } = await get<Times>('/api/times');
  expect(events.map(({ eventName }) => eventName)).toEqual(
    MANY.slice(30)
      .map((name) => `e-${name}`)
      .reverse(),
  );
});

it('a call has 20 events, those of the service first', async () => {
  const { get, log } = open();
  for (const name of MANY)
    await wrote(log, [{ outcome: 'handled', eventName: `e/${name}`, callId: 'c1' }]);
  const { events } = await get<CallTimeline>('/api/calls/c1');
  expect(events.map(({ eventName }) => eventName).slice(0, 3)).toEqual([
    ...['call:started', 'call:completed', 'call:recording-available'],
  ]);
  expect(events).toHaveLength(20);
});
