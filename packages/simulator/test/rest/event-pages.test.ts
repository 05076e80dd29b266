import { expect, test } from '@jest/globals';
import type { ActivityEvent } from '@call-webhooks/client';
import type { Simulator } from '@call-webhooks/simulator';
import { getJson } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

interface EventsPage {
  results: ActivityEvent[];
  next: string | null;
  hasNext: boolean;
}

const events = (simulator: Simulator, query: Record<string, string> = {}) =>
  getJson<EventsPage>(simulator, `/events?${new URLSearchParams(query).toString()}`);

test('pages go on where the last one ended, whatever is added or disappears meanwhile', async () => {
  const simulator = await open.simulator({ pageSize: 4 });
  for (let sent = 0; sent < 10; sent++) {
    simulator.messages.send({ subject: String(sent), to: 'a@x.example' });
    if (sent % 2) await simulator.clock.advance('1s');
  }
  const first = await events(simulator);
  expect(first).toMatchObject({ hasNext: true, next: expect.any(String) });
  const last = first.results.at(-1)!;
  const opened = simulator.messages.list().find(({ subject }) => subject === last.subject)!;
  await simulator.clock.advance('1m');
  simulator.messages.record(opened._id, { action: 'opened' });
  const second = await events(simulator, { next: first.next! });
  const third = await events(simulator, { next: second.next! });
  expect([first, second, third].map(({ results }) => results.length)).toEqual([4, 4, 2]);
  expect(third).toMatchObject({ hasNext: false, next: null });
  const all = [...first.results, ...second.results, ...third.results];
  expect(new Set(all.map(({ subject }) => subject)).size).toBe(10);
  const times = all.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...times].sort((one, other) => other - one));
});

test('pages are as long as asked for, 500 at most', async () => {
  const simulator = await open.simulator();
  for (let sent = 0; sent < 510; sent++)
    simulator.messages.send({ subject: String(sent), to: 'a@x.example' });
  expect((await events(simulator)).results).toHaveLength(50);
  expect((await events(simulator, { limit: '7' })).results).toHaveLength(7);
  expect((await events(simulator, { limit: '9999' })).results).toHaveLength(500);
});
