import { expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { responses, oneDelivery } from '../support/one-delivery.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

/** Real milliseconds until the clock goes on though a body has no end: enough for a status line. */
const PATIENCE = 1_500;

const BODIES: Record<string, (response: ServerResponse) => unknown> = {
  'never ends': (response) => response.write('so far'),
  'is cut off': (response) => {
    response.write('so far', () => response.destroy());
  },
  'is shorter than its content-length': (response) => {
    response.setHeader('content-length', 100);
    response.write('so far', () => response.socket?.destroy());
  },
};

test.each(Object.keys(BODIES))('a 200 in time acknowledges, though its body %s', async (name) => {
  const { simulator, receiver, delivery } = await oneDelivery(
    open,
    (_received, response) => {
      response.statusCode = 200;
      BODIES[name]?.(response);
      response.flushHeaders();
    },
    { patience: PATIENCE, maxAttempts: 2 },
  );
  await simulator.clock.advance('10m');
  await simulator.deliveries.settled();
  expect(receiver.received).toHaveLength(1);
  expect(delivery().state).toBe('acknowledged');
  expect(responses(delivery())).toEqual([200]);
});

test('a 404 pauses the rule, though its body never ends', async () => {
  const { simulator, delivery, rule } = await oneDelivery(
    open,
    (_received, response) => void response.writeHead(404).write('so far'),
    { patience: PATIENCE },
  );
  await simulator.clock.advance('31s');
  await simulator.deliveries.settled();
  expect([delivery().state, rule().pauseReason]).toEqual(['failed', 'answered-404']);
});

test('without a status line in time the attempt times out', async () => {
  const { simulator, delivery } = await oneDelivery(open, () => undefined, { patience: 50 });
  await simulator.clock.advance('31s');
  await simulator.deliveries.settled();
  expect(responses(delivery())).toEqual(['timeout']);
});
