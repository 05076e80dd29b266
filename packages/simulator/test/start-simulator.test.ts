import { expect, test } from '@jest/globals';
import { startSimulator, type SimulatorOptions } from '@call-webhooks/simulator';
import { omit } from '../src/omit.ts';
import { testResources } from './support/test-resources.ts';

const open = testResources();

/** Everything that a run decided; what the wall clock and the free port have to do with is left out. */
async function run(seed: string) {
  const simulator = await open.simulator({
    seed,
    timestamps: 'clock',
    slowBodyMs: 0,
    baseUrl: 'https://api.example',
  });
  const receiver = await open.receiver((received, response) => {
    response.writeHead(received.body.length % 3 === 0 ? 500 : 200).end();
  });
  simulator.chaos.setAll(0.3);
  simulator.rules.forwardTo(receiver.url);
  for (let placed = 0; placed < 6; placed++) simulator.calls.place();
  await simulator.clock.runUntilIdle();
  const seen = simulator.deliveries.list().map(({ attempts, ...delivery }) => ({
    ...delivery,
    attempts: attempts.map(({ request, response, droppedResponse, ...attempt }) => ({
      ...omit(attempt, 'tookMs'),
      headers: request.headers,
      body: request.body,
      answers: [response, droppedResponse].map((one) =>
        one?.kind === 'status' ? one.status : one,
      ),
    })),
  }));
  return { seen, ended: simulator.clock.now(), secrets: simulator.secrets.all() };
}

test('the same seed gives the same run, another seed another', async () => {
  const [one, same, other] = [await run('a'), await run('a'), await run('b')];
  expect(one.seen.length).toBeGreaterThan(18);
  expect(same).toEqual(one);
  expect(other.seen.map(({ _id }) => _id)).not.toEqual(one.seen.map(({ _id }) => _id));
});

test('what comes after a reset has ids of its own, and those are the same again', async () => {
  const ids = async () => {
    const simulator = await open.simulator({ seed: 'reset' });
    const first = simulator.calls.start()._id;
    simulator.reset();
    expect(simulator.calls.list()).toEqual([]);
    return [first, simulator.calls.start()._id];
  };
  const [one, two] = [await ids(), await ids()];
  expect(one[0]).not.toBe(one[1]);
  expect(two).toEqual(one);
});

test.each<[SimulatorOptions, string]>([
  [{ port: 70_000 }, 'port'],
  [{ clock: 'fast' as never }, 'clock'],
  [{ maxAttempts: 0 }, 'maxAttempts'],
  [{ retryJitter: 2 }, 'retryJitter'],
  [{ retryEvery: 'soon' }, 'duration'],
  [{ chaos: { replay: 7 } }, 'replay'],
  [{ chaos: { earthquake: 1 } as never }, 'chaos mode'],
  [{ fieldNames: { colour: 'red' } as never }, 'fieldNames'],
  [{ headerPrefix: 'X Service' }, 'headerPrefix'],
  [{ extraHeaders: { 'X-Note': 'two\nlines' } }, 'extraHeaders'],
  [{ workspace: { _id: 'w', users: [], teams: [], templates: [], sequences: [] } }, 'one user'],
])('%j is refused at the start', async (options, named) => {
  const starting = startSimulator(options);
  await expect(starting).rejects.toMatchObject({ code: 'invalid-input' });
  await expect(starting).rejects.toThrow(named);
});

/** A receiver that answers nobody, one delivery that it works on, and many in line. */
async function busy() {
  const simulator = await open.simulator({ maxInFlight: 1 });
  const receiver = await open.receiver(() => undefined);
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  for (let placed = 0; placed < 20; placed++) simulator.calls.start();
  await receiver.arrived();
  return { simulator, receiver };
}

test('after close nothing is sent any more, not even what stood in line', async () => {
  const { simulator, receiver } = await busy();
  await simulator.close();
  await simulator.deliveries.settled();
  simulator.calls.start();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(receiver.received).toHaveLength(1);
});

test('a reset in the middle of everything leaves nothing behind', async () => {
  const { simulator, receiver } = await busy();
  receiver.respond = (_received, response) => void response.end();
  simulator.reset();
  // This one is being signed when the next reset comes.
  const { url } = receiver;
  simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
  simulator.calls.start();
  simulator.reset();
  await simulator.deliveries.settled();
  expect(simulator.deliveries.list()).toEqual([]);
  simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
  simulator.calls.start();
  await simulator.clock.runUntilIdle();
  expect(simulator.deliveries.counts()).toEqual({ acknowledged: 1 });
  expect(receiver.received).toHaveLength(2);
});
