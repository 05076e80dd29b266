import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { THIS_VERSION } from '../src/checkout.ts';
import { ENGINES } from '../src/stores/engines.ts';
import { costOf, floorPath, latencyOf, receiverPath } from '../src/stores/load.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  jest.restoreAllMocks();
});

/** An engine that needs no server. */
async function open(name: 'memory' | 'sqlite') {
  const engine = await ENGINES[name](THIS_VERSION);
  stops.push(() => engine.stop());
  return engine;
}

describe.each(['memory', 'sqlite'] as const)('deliveries with the %s store', (name) => {
  it('are handled, many at a time and one at a time', async () => {
    const { store } = await open(name);
    const path = await receiverPath(THIS_VERSION, { store });
    const { wall, cpu } = await costOf(path, 100, 16);
    expect(Math.min(wall, cpu)).toBeGreaterThan(0);
    const { p50, p99 } = await latencyOf(path, 5);
    expect(p99).toBeGreaterThanOrEqual(p50);
  });
});

describe('the load', () => {
  it('runs each delivery once, and as many at a time as it should', async () => {
    let [running, most] = [0, 0];
    const ids = new Set<string>();
    const path = floorPath(async (id) => {
      ids.add(id);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running -= 1;
    });
    await costOf(path, 100, 16);
    expect([ids.size, most]).toEqual([100, 16]);
  });

  it('fails when a delivery is refused', async () => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { store } = await open('memory');
    const refusing = { ...store, admit: () => Promise.reject(new Error('down')) };
    const path = await receiverPath(THIS_VERSION, { store: refusing });
    await expect(costOf(path, 1, 1)).rejects.toThrow('The receiver responded 503');
  });
});
