import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { createTestReceiver, delivery, STARTED } from '../support.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' }) => void;

it.each([
  ['synchronous', () => undefined],
  ['asynchronous', () => Promise.resolve()],
])('a %s handler leaves nothing of its delivery to a full collection', async (_kind, handle) => {
  const { receiver } = createTestReceiver({ on: { 'call:started': handle } });
  const note = 'x'.repeat(10_000);
  const requests = Array.from({ length: 600 }, (_none, number) =>
    delivery({ ...STARTED, callId: `call-${String(number)}`, note: note + String(number) }),
  );
  const ready = await Promise.all(requests);
  const collect = () => {
    for (let count = 0; count < 3; count++) collectGarbage({ type: 'minor' });
    return getHeapStatistics().used_heap_size;
  };
  let before = collect();
  for (const [number, request] of ready.entries()) {
    if (number === 100) before = collect(); // what is compiled and kept once is there by then
    expect((await receiver.receive(request)).status).toBe(200);
    if (number % 50 === 0) collect();
  }
  expect(collect() - before).toBeLessThan(5_000_000); // of 10 MB of texts and payloads
});
