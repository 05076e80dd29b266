import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { waitFor } from '@call-webhooks/contract-tests';
import { afterEach, expect, jest, test } from '@jest/globals';
import { testResources } from './support/test-resources.ts';

const open = testResources();
afterEach(() => {
  jest.restoreAllMocks();
});

/** Timers of so many real milliseconds go off when the test says so. All others are as they are. */
function timersOf(ms: number): (() => void)[] {
  const set = globalThis.setTimeout;
  const held: (() => void)[] = [];
  const hold = (run: (...args: unknown[]) => void, after?: number, ...args: unknown[]) => {
    if (after !== ms) return set(run, after, ...args);
    held.push(() => run(...args));
    return set(() => undefined, 0);
  };
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(hold as never);
  return held;
}

test('a response whose body does not end is waited for one second', async () => {
  const simulator = await open.simulator();
  const receiver = await open.receiver((_received, response) => {
    response.writeHead(202).write('so far');
  });
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  const timers = timersOf(1_000);
  simulator.calls.start();
  await waitFor(() => timers.length === 1, { what: 'a timer of one second is set' });
  expect(simulator.events.counts()).toEqual({ 'in-flight': 1 });
  timers[0]!();
  await simulator.events.settled();
  const [event] = simulator.events.list();
  expect([event?.state, event?.attempts]).toMatchObject([
    'acknowledged',
    [{ response: { kind: 'status', status: 202, truncated: true } }],
  ]);
});

test('a body that is longer than what is kept is not read to its end', async () => {
  const simulator = await open.simulator();
  const receiver = await open.receiver((_received, response) => {
    response.writeHead(200).write('x'.repeat(70_000));
  });
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  timersOf(1_000); // none goes off
  simulator.calls.start();
  await simulator.events.settled();
  const [event] = simulator.events.list();
  const [attempt] = event?.attempts ?? [];
  expect(attempt?.response).toMatchObject({ body: 'x'.repeat(65_536), truncated: true });
});

test('changes are gathered for 80 ms, and told once', async () => {
  const simulator = await open.simulator();
  const asked = get(`${simulator.url}/_sim/stream`, { agent: false });
  const [stream] = (await once(asked, 'response')) as [IncomingMessage];
  let told = '';
  stream.on('data', (chunk: Buffer) => (told += chunk.toString()));
  stream.on('error', () => undefined);
  await waitFor(() => told !== '', { what: 'the stream is open' });
  const timers = timersOf(80);
  const rules = ['call:started', 'call:completed'] as const;
  const [first, second] = rules.map((trigger) => simulator.rules.create({ trigger }));
  simulator.rules.pause(first!._id);
  expect([timers.length, told]).toEqual([1, 'retry: 1000\n\n']);
  timers[0]!();
  await waitFor(() => told.includes('data: '), { what: 'the changes are told' });
  const [, data] = told.split('event: changes\ndata: ');
  expect(JSON.parse(data!)).toEqual({
    ...{ resync: false, events: [] },
    rules: [simulator.rules.get(first!._id), second],
  });
  simulator.rules.resume(first!._id);
  expect(timers).toHaveLength(2);
});
