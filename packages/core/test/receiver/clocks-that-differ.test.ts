import { describe, expect, it } from '@jest/globals';
import { memoryStore, type Store } from '../../src/index.ts';
import { createTestReceiver, delivery, NOW, SECONDS, STARTED } from '../support.ts';

const SECOND = 1_000;

/** Receivers of one store on a server, whose clocks differ from that of the service. */
function receivers({ toleranceSeconds = 300 }: { toleranceSeconds?: number }) {
  let time = NOW;
  const server = memoryStore({ now: () => time });
  const receiverWith = (aheadMs: number) => {
    // As stores with a server do it: only the difference to the receiver's clock leaves a receiver.
    const store: Store = {
      ...server,
      admit: (claim) => server.admit({ ...claim, replayUntil: claim.replayUntil - aheadMs }),
    };
    const now = () => time + aheadMs;
    return createTestReceiver({ store, now, toleranceSeconds }).receiver;
  };
  return { receiverWith, pass: (ms: number) => (time += ms) };
}

describe('a webhook id is remembered for as long as any receiver would verify it', () => {
  it.each([
    [0, 0, 300],
    [290, -290, 300],
    [-290, 290, 300],
    [290, 290, 300],
    [-9, 9, 10],
    [3_500, -3_500, 3_600],
  ])(
    'with clocks %i s and %i s off, and a tolerance of %i s',
    async (first, second, toleranceSeconds) => {
      const { receiverWith, pass } = receivers({ toleranceSeconds });
      const [one, other] = [receiverWith(first * SECOND), receiverWith(second * SECOND)];
      const request = await delivery(STARTED, { timestamp: SECONDS });
      expect((await one.receive(request)).outcome.outcome).toBe('ignored');
      const step = Math.max(1, toleranceSeconds / 30);
      const seen = new Set<string>();
      for (let passed = 0; passed < 3 * toleranceSeconds; passed += step) {
        pass(step * SECOND);
        for (const receiver of [one, other])
          seen.add((await receiver.receive(request)).outcome.outcome);
      }
      expect([...seen].sort()).toEqual(['replayed', 'timestamp-out-of-tolerance']);
    },
  );
});
