import { describe, expect, test } from '@jest/globals';
import { createClient, NetworkError } from '@call-webhooks/client';
import { fillMessages } from '../src/messages.ts';
import { startProgram, type Program } from '../src/programs.ts';
import { sendForwarded, startProxy } from '../src/proxy.ts';
import { instantClock } from '../src/instant-clock.ts';
import { STARTED_AT, testResources } from '../src/test-resources.ts';

const open = testResources();

test('fetches three pages, each only when it is needed', async () => {
  const simulator = await open.simulator({ pageSize: 10 });
  fillMessages(simulator, 23);
  const proxy = open.add(await startProxy(simulator.url));
  const client = createClient({ baseUrl: proxy.origin, apiToken: simulator.apiToken });
  const ids: string[] = [];
  for await (const { _id } of client.events.iterate()) {
    ids.push(_id);
    expect(proxy.paths).toHaveLength(Math.ceil(ids.length / 10));
  }
  expect(new Set(ids).size).toBe(23);
  expect(proxy.paths).toHaveLength(3);
});

test('iterates over ten thousand events with constant memory', async () => {
  // Bytes: enough for a page of 500 events and noise from the garbage collector. All events together
  // take several times as much, as the run that keeps them shows.
  const bound = 2_500_000;
  const simulator = await open.simulator();
  fillMessages(simulator, 10_000);
  const { url: baseUrl, apiToken } = simulator;
  const input = { baseUrl, apiToken, limit: 500 };
  const { ready } = open.add(await startProgram('iterate.ts', input, ['--expose-gc']));
  const { lean, hoarder } = ready as Record<string, { count: number; growth: number }>;
  expect([lean?.count, hoarder?.count]).toEqual([10_000, 10_000]);
  expect(lean?.growth).toBeLessThan(bound);
  expect(hoarder?.growth).toBeGreaterThan(2 * bound);
});

test('waits as long as Retry-After says after a 429', async () => {
  const clock = instantClock(undefined, STARTED_AT);
  const rateLimit = { requests: 2, every: '20s' };
  const simulator = await open.simulator({ rateLimit, wallClock: clock.now, pageSize: 10 });
  fillMessages(simulator, 50);
  const client = createClient({
    baseUrl: simulator.url,
    apiToken: simulator.apiToken,
    clock,
    random: () => 0,
  });
  let count = 0;
  for await (const _event of client.events.iterate()) count++;
  expect(count).toBe(50);
  expect(clock.pauses).toEqual([20_000, 20_000]);
});

describe('a server that dies between two pages', () => {
  const events = 35;
  const client = (server: Program, options = {}) =>
    createClient({ ...hello(server), random: () => 0, ...options });
  const hello = ({ ready }: Program) => {
    const { url, apiToken } = ready as { url: string; apiToken: string };
    return { baseUrl: url, apiToken };
  };

  test('and comes back loses no event; one that stays down is an error', async () => {
    let server = open.add(await startProgram('simulator.ts', { port: 0, events }));
    const port = Number(new URL(hello(server).baseUrl).port);
    const clock = instantClock(async (pause) => {
      // The third try finds it again.
      if (pause === 500) server = open.add(await startProgram('simulator.ts', { port, events }));
    });
    const ids: string[] = [];
    for await (const { _id } of client(server, { clock }).events.iterate()) {
      ids.push(_id);
      if (ids.length === 20) await server.close();
    }
    expect(new Set(ids).size).toBe(events);
    expect(ids).toHaveLength(events);
    expect(clock.pauses).toEqual([250, 500]);

    const gone = client(server, { clock: instantClock() }).events.iterate();
    await gone.next();
    await server.close();
    const reading = (async () => {
      for await (const _event of gone);
    })();
    await expect(reading).rejects.toBeInstanceOf(NetworkError);
  });
});

test('a repeated cursor fails the iteration, which neither loops nor ends as if it were complete', async () => {
  const simulator = await open.simulator({ pageSize: 10 });
  fillMessages(simulator, 30);
  let cursor: string | undefined;
  const proxy = await startProxy(simulator.url, async (_, response, forward) => {
    const answer = await forward();
    const page = JSON.parse(answer.body.toString()) as { next: string };
    cursor ??= page.next;
    const body = Buffer.from(JSON.stringify({ ...page, next: cursor, hasNext: true }));
    sendForwarded(response, { ...answer, body, headers: { 'content-type': 'application/json' } });
  });
  open.add(proxy);
  const client = createClient({ baseUrl: proxy.origin, apiToken: simulator.apiToken });
  let count = 0;
  const reading = (async () => {
    for await (const _event of client.events.iterate()) count++;
  })();
  await expect(reading).rejects.toThrow('wire.nextParam');
  expect(count).toBe(20);
  expect(proxy.paths).toHaveLength(2);
});
