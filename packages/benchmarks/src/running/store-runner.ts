import { Child } from './child.ts';
import type { Delay } from './protocol.ts';
import type { Runner } from './rounds.ts';

const OPERATIONS = 20_000;

/** The memory store, full: each delivery makes it forget another. */
export interface StoreRunner extends Runner {
  readonly bytesPerId: number;
  delays(seconds: number): Promise<{ busy: Delay; idle: Delay }>;
}

/** @param size how many webhook ids it holds, and how many events */
export async function storeRunner(size: number): Promise<StoreRunner> {
  const child = await Child.start('store-process', String(size), ['--expose-gc']);
  return {
    bytesPerId: child.ready.bytesPerId as number,
    async turn() {
      const { cpu } = await child.ask({ ask: 'admit', operations: OPERATIONS });
      return (cpu as number) / OPERATIONS;
    },
    async delays(seconds) {
      const { busy, idle } = await child.ask({ ask: 'delays', seconds });
      return { busy: busy as Delay, idle: idle as Delay };
    },
    stop: () => child.stop(),
  };
}
