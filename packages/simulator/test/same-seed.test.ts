import { expect, test } from '@jest/globals';
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
