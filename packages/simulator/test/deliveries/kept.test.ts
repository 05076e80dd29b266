import { expect, test } from '@jest/globals';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

test('keepDeliveries: the oldest finished ones are removed, also from the counts', async () => {
  const simulator = await open.simulator({ keepDeliveries: 3 });
  let status = 500;
  const receiver = await open.receiver((_request, response) => {
    response.writeHead(status).end();
  });
  simulator.rules.forwardTo(receiver.url);
  simulator.calls.place({ durationSeconds: 10 });
  const [waiting] = simulator.deliveries.list();
  await simulator.clock.advance('1s');
  expect(simulator.deliveries.list()).toMatchObject([{ _id: waiting!._id, state: 'waiting' }]);
  status = 200;
  for (let call = 0; call < 4; call++) {
    simulator.calls.place({ durationSeconds: 10 });
    await simulator.clock.advance('20s');
    expect(simulator.deliveries.list().length).toBeLessThanOrEqual(3);
  }
  // One that has yet to be sent is kept, however old it is.
  expect(simulator.deliveries.list()[0]).toMatchObject({ _id: waiting!._id, state: 'waiting' });
  expect(simulator.deliveries.counts()).toEqual({ waiting: 1, acknowledged: 2 });
});
