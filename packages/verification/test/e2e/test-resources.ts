import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { startSimulator, type Simulator, type SimulatorOptions } from '@call-webhooks/simulator';

/** The start time of all simulators, so that every run of a test is the same. */
export const STARTED_AT = Date.UTC(2026, 0, 31, 12);

/** Tracks what a test opens, and closes it afterwards in reverse order. */
export function testResources() {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
  return {
    add<Closable extends { close(): unknown }>(closable: Closable): Closable {
      open.push(() => closable.close());
      return closable;
    },
    async simulator(options: SimulatorOptions = {}): Promise<Simulator> {
      const simulator = await startSimulator({
        clock: 'manual',
        seed: 1,
        startAt: STARTED_AT,
        ...options,
      });
      open.push(() => simulator.close());
      return simulator;
    },
    async folder(): Promise<string> {
      const folder = await mkdtemp(join(tmpdir(), 'call-webhooks-'));
      open.push(() => rm(folder, { recursive: true }));
      return folder;
    },
  };
}
