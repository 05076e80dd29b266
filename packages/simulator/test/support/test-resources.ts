import { afterEach } from '@jest/globals';
import { startSimulator, type Simulator, type SimulatorOptions } from '@call-webhooks/simulator';
import { plainReceiver, type PlainReceiver, type Respond } from './receiver.ts';

/** A start that every test shares, so that the same test sees the same run. */
export const STARTED_AT = Date.UTC(2026, 0, 31, 12);

/**
 * Opens simulators and receivers, and closes them all after each test.
 * @param whenOver `afterAll`: after the last test of the file
 */
export function testResources(whenOver: typeof afterEach = afterEach) {
  const open: { close(): Promise<unknown> }[] = [];
  whenOver(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  return {
    async simulator(options: SimulatorOptions = {}): Promise<Simulator> {
      const simulator = await startSimulator({
        clock: 'manual',
        seed: 1,
        startAt: STARTED_AT,
        patience: 5_000,
        ...options,
      });
      open.push(simulator);
      return simulator;
    },
    async receiver(respond?: Respond | number): Promise<PlainReceiver> {
      const receiver = await plainReceiver(respond);
      open.push(receiver);
      return receiver;
    },
    add<Closable extends { close(): Promise<unknown> }>(closable: Closable): Closable {
      open.push(closable);
      return closable;
    },
  };
}
