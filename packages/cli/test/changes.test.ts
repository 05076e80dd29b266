import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Connection } from '../src/simulator/connection.ts';
import { changesOf, updatesOf } from '../src/simulator/updates.ts';

test('a stream of changes that nobody reads ends with its command, even if fetch forgets the signal', async () => {
  const server = createServer((_request, response) => response.write('\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const command = new AbortController();
  const requested = once(server, 'request');
  const connection = {
    url,
    signal: command.signal,
    stream: async () => (await fetch(url)).body, // as when it has forgotten it
  };
  await changesOf(connection as Parameters<typeof changesOf>[0]);
  const [, response] = (await requested) as [unknown, NodeJS.EventEmitter];
  const ended = once(response, 'close');
  command.abort();
  await ended;
  server.close();
});

test('a stream whose reader needs no more is closed, while its command goes on', async () => {
  let close = (): void => undefined;
  const closed = new Promise<void>((resolve) => (close = resolve));
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(new TextEncoder().encode('event: changes\ndata: {"rules":[]}\n\n')),
    cancel: () => close(),
  });
  const { signal } = new AbortController();
  const connection = { url: 'http://simulator', signal, stream: () => Promise.resolve(stream) };
  for await (const change of await changesOf(connection as unknown as Connection)) {
    expect(change).toEqual({ rules: [] });
    break;
  }
  await closed;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

/** An attempt of an event that ended, or that has no response yet. */
const attempt = (number: number, isEnded = true, kind = 'delivery') => ({
  ...{ number, kind, startedAt: number },
  ...(isEnded && { response: { kind: 'status', status: 200 } }),
});

/** A simulator that has these events now, `later` when it is asked again, and tells these changes one after another. */
async function updates(
  now: object[],
  changes: { events: object[]; rules?: object[]; resync?: boolean }[],
  later: object[] = [],
  rules: object[] = [],
) {
  const answers = [now];
  let told = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const change = changes[told++];
      if (!change) {
        controller.close();
        return;
      }
      const data = { resync: false, rules: [], ...change };
      const text = `event: changes\ndata: ${JSON.stringify(data)}\n\n`;
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const connection = {
    ...{ url: 'http://simulator', signal: new AbortController().signal },
    stream: () => Promise.resolve(stream),
    get: (path: string) => Promise.resolve(path === '/events' ? (answers.pop() ?? later) : rules),
  };
  const found: string[] = [];
  const reading = async () => {
    for await (const update of await updatesOf(connection as unknown as Connection))
      if (update.type === 'attempt')
        found.push(`${update.event._id} ${update.attempt.kind} ${update.attempt.number}`);
      else found.push(`${update.rule._id} ${update.rule.state}`);
  };
  await expect(reading()).rejects.toThrow('The simulator at http://simulator has stopped.');
  return found;
}

test('an attempt is told once when it has ended, in the order of its event, and none from before', async () => {
  const first = { _id: 'a', attempts: [attempt(1)] };
  const running = { _id: 'a', attempts: [attempt(1), attempt(2, false)] };
  // The replay of the second attempt ends before the attempt itself.
  const replayed = { _id: 'a', attempts: [...running.attempts, attempt(2, true, 'replay')] };
  const ended = { _id: 'a', attempts: [attempt(1), attempt(2), attempt(2, true, 'replay')] };
  const other = { _id: 'b', attempts: [attempt(1)] };
  expect(
    await updates(
      [first],
      [
        { events: [running] },
        { events: [replayed] },
        { events: [replayed, other] },
        { events: [ended] },
        { events: [ended, other] },
      ],
    ),
  ).toEqual(['b delivery 1', 'a delivery 2', 'a replay 2']);
});

test('after more changes than the stream can tell, what it left out is read, and nothing twice', async () => {
  const event = (count: number) => ({
    ...{ _id: 'a', attempts: Array.from({ length: count }, (_, at) => attempt(at + 1)) },
  });
  const other = { _id: 'b', attempts: [attempt(1)] };
  expect(
    await updates(
      [event(1)],
      [{ events: [event(2)] }, { events: [], resync: true }, { events: [event(5)] }],
      [event(4), other],
    ),
  ).toEqual(['a delivery 2', 'a delivery 3', 'a delivery 4', 'b delivery 1', 'a delivery 5']);
});

test('a rule is told when it is paused or resumed, but not when it is new, or is what it was', async () => {
  const rule = (_id: string, state: string) => ({ _id, state });
  const change = (...rules: object[]) => ({ events: [], rules });
  const [active, paused] = [rule('a', 'active'), rule('a', 'paused')];
  expect(
    await updates(
      [],
      [
        change(active),
        change(paused, rule('new', 'active'), rule('born-paused', 'paused')),
        change(paused, rule('new', 'active')),
        change(active, rule('new', 'paused'), rule('born-paused', 'active')),
      ],
      [],
      [active],
    ),
  ).toEqual(['a paused', 'a active', 'new paused', 'born-paused active']);
});
