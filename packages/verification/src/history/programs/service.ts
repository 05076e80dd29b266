// The service: the simulator with short retry times. Sends `ready` once it listens, and exits when
// everything is acknowledged and all of its attempts are in the journal.
import { setTimeout as delay } from 'node:timers/promises';
import { startSimulator, type Simulator } from '@call-webhooks/simulator';
import { deliveryEntries } from '../delivery-entries.ts';
import { Journal, monotonicMs } from '../journal.ts';
import { seededRandom } from '../seeded-random.ts';

/** What the service is started with: JSON in its only argument. */
export interface ServiceInput {
  journal: string;
  seed: string;
  secret: string;
  /** The webhook's URL. */
  url: string;
  /** How many calls to place. */
  calls: number;
  /** Exits when nothing was acknowledged for this long; milliseconds. */
  quietMs: number;
}

/** Each call is three events, and some events are sent in several copies. */
const CALLS_PER_SECOND = 6;
const EVENTS_PER_CALL = 3;

process.on('disconnect', () => process.exit(1));
const input = JSON.parse(process.argv[2] ?? '') as ServiceInput;

const simulator = await startSimulator({
  seed: input.seed,
  // The service's 30 s and 5 min, scaled down. Copies of an event ask for its lease meanwhile.
  acknowledgeWithin: 1_500,
  retryEvery: 600,
  retryJitter: 0.4,
  maxAttempts: 1_000,
  // Retries are 500 times as frequent as the service's. Without a limit, the retries of one outage
  // would keep the machine too busy to answer any of them in time.
  maxInFlight: 100,
  chaos: { concurrentDuplicates: 0.4, dropResponse: 0.03, replay: 0.03 },
});
simulator.rules.forwardTo(input.url, { secret: input.secret });
process.send?.('ready');

await placeCalls(input.calls);
await allAcknowledged(input.quietMs);
const journal = new Journal(input.journal);
const offset = monotonicMs() - simulator.clock.now();
for (const delivery of simulator.deliveries.list())
  for (const entry of deliveryEntries(delivery, offset)) journal.write(entry);
await simulator.close();
process.exit(0);

/** Places short calls at a steady rate. */
async function placeCalls(count: number): Promise<void> {
  const start = monotonicMs();
  for (let number = 0; number < count; number++) {
    await delay(Math.max(0, start + (number * 1_000) / CALLS_PER_SECOND - monotonicMs()));
    simulator.calls.place({ durationSeconds: seededRandom(input.seed, 'duration', number) });
  }
}

/**
 * Waits until every event of every call is acknowledged, however long a slow machine takes, or until
 * nothing was acknowledged for `quietMs`.
 */
async function allAcknowledged(quietMs: number): Promise<void> {
  let acknowledged = -1;
  let since = monotonicMs();
  while (!isSettled(simulator) && monotonicMs() - since < quietMs) {
    await delay(100);
    const now = simulator.deliveries.counts().acknowledged ?? 0;
    if (now !== acknowledged) since = monotonicMs();
    acknowledged = now;
  }
  // A replay may still be in flight.
  await Promise.race([simulator.deliveries.settled(), delay(2_000, undefined, { ref: false })]);
}

function isSettled({ calls, deliveries }: Simulator): boolean {
  const states = deliveries.counts();
  if (states.waiting !== undefined || states['in-flight'] !== undefined) return false;
  const originals = deliveries.list().filter(({ copyOf }) => copyOf === undefined).length;
  return originals === calls.list().length * EVENTS_PER_CALL;
}
