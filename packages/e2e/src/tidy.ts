import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { startSimulator, type Simulator, type SimulatorOptions } from '@call-webhooks/simulator';

/** A start and a seed that all tests share, so that a test sees the same run each time. */
export const STARTED_AT = Date.UTC(2026, 0, 31, 12);

/** Keeps what a test opens, and closes it after the test, the last one first. */
export function tidy() {
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
