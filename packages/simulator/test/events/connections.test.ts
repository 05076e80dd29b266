import { waitFor } from '@call-webhooks/contract-tests';
import { expect, test } from '@jest/globals';
import type { Simulator } from '@call-webhooks/simulator';
import { plainReceiver, type Respond } from '../support/receiver.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

const neverEnds: Respond = (_received, response) => void response.writeHead(200).write('so far');
const silent: Respond = () => undefined;

/** How an attempt ends; the connection to its receiver ends with it. */
test.each<[string, Respond, (simulator: Simulator) => unknown, string | undefined]>([
  ['was answered', (_received, response) => void response.end(), () => undefined, 'acknowledged'],
  [
    'was answered, and the receiver would keep the connection',
    (_received, response) => void response.writeHead(500, { connection: 'keep-alive' }).end('no'),
    () => undefined,
    'waiting',
  ],
  ['has a body that never ends', neverEnds, () => undefined, 'acknowledged'],
  ['was not answered in time', silent, ({ clock }) => clock.advance('30s'), 'waiting'],
  ['was in flight at a reset', silent, (simulator) => simulator.reset(), undefined],
  ['was in flight at the end', silent, (simulator) => simulator.close(), 'in-flight'],
])('no connection is left of an attempt that %s', async (_what, respond, end, state) => {
  const simulator = await open.simulator({ patience: 1 });
  const receiver = open.add(await plainReceiver(respond));
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  simulator.calls.start();
  await receiver.arrived();
  await end(simulator);
  await simulator.events.settled();
  const connections = () =>
    new Promise<number>((resolve) =>
      receiver.server.getConnections((_error, count) => resolve(count)),
    );
  await waitFor(async () => (await connections()) === 0, { what: 'the connection is closed' });
  expect(simulator.events.list().map((one) => one.state)).toEqual(state ? [state] : []);
});

test('what stands in line is sent in the order in which it got there', async () => {
  const simulator = await open.simulator({ maxInFlight: 1 });
  const receiver = await open.receiver();
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  const placed = Array.from({ length: 8 }, () => simulator.calls.start()._id);
  await simulator.events.settled();
  const sent = receiver.received.map(({ body }) => (JSON.parse(body) as { callId: string }).callId);
  expect(sent).toEqual(placed);
});
