import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

/** A receiver that answers nobody, one delivery that it works on, and many in line. */
async function busy() {
  const simulator = await open.simulator({ maxInFlight: 1 });
  const receiver = await open.receiver(() => undefined);
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  for (let placed = 0; placed < 20; placed++) simulator.calls.start();
  while (receiver.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
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

// In a process of its own, because Jest hides warnings.
test('many attempts that listen for the end are not reported as a leak', () => {
  const program = `
    import { createStop } from '${new URL('../../src/deliveries/attempt-delivery.ts', import.meta.url).href}';
    const { signal } = createStop();
    for (let attempt = 0; attempt < 50; attempt++) signal.addEventListener('abort', () => attempt);
    process.on('warning', () => process.exit(1));`;
  const flags = ['--import', 'tsx', '--conditions=@call-webhooks/source', '--input-type=module'];
  execFileSync(process.execPath, [...flags, '-e', program], { stdio: 'pipe' });
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
