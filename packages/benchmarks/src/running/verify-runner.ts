import type { VerifyName } from '../contenders.ts';
import { Child } from './child.ts';
import type { Runner } from './rounds.ts';

/** @param operations how many messages a turn verifies; a multiple of 1,000 */
export async function verifyRunner(name: VerifyName, operations: number): Promise<Runner> {
  const child = await Child.start('verify-process', name);
  return {
    async turn() {
      const { cpu } = await child.ask({ ask: 'verify', operations });
      return cpu / operations;
    },
    stop: () => child.stop(),
  };
}
